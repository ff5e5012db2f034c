// SPDX-License-Identifier: MIT
#include "thread/remote_free.h"

#include "thread/batch.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"

enum {
    OUTBOX_BYTES_MOST = 64 << 10,    // of blocks that a thread holds back in its outboxes
    MAILBOX_BYTES_MOST = 256 << 10,  // above: whoever posts sees to it that the mailbox is emptied
    BATCH_BYTES_LEAST = 8 << 10,     // what a batch in a mailbox counts for at least: each of its
                                     // blocks, however small, may keep a page from going back
};

typedef _Atomic(struct batch *) outbox_slot;

static struct batch *outbox_read(outbox_slot *outbox)
{
    return atomic_load_explicit(outbox, memory_order_relaxed);
}

static size_t batch_bytes(const struct batch *batch)
{
    return batch_count(batch) * size_class_bytes((class_id)page_entry_class(batch_entry(batch)));
}

// What a batch adds to its owner's mailbox_bytes.
static size_t batch_weight(const struct batch *batch)
{
    return max_size(batch_bytes(batch), BATCH_BYTES_LEAST);
}

// The owner is idle, ended, or slow to look: empty its mailbox in its place.
static void drain_for(struct heap *owner, struct heap *self)
{
    bool is_urgent = atomic_load_explicit(&owner->mailbox_bytes, memory_order_relaxed) >
                     4 * (size_t)MAILBOX_BYTES_MOST;
    if (!lock_try(&owner->slabs.lock)) {
        if (!is_urgent) {
            return;
        }
        lock_take(&owner->slabs.lock);
    }
    struct batch *strays = remote_free_drain(owner, self);
    lock_give(&owner->slabs.lock);
    remote_free_forward(self, strays);
    heap_purge_if_due(owner);
}

static void post(struct heap *self, struct batch *batch)
{
    struct heap *owner = heap_registry_lookup(page_entry_tag(batch_entry(batch)));
    size_t bytes = batch_weight(batch);
    struct batch *first = atomic_load_explicit(&owner->mailbox, memory_order_relaxed);
    do {
        batch->next = first;
        // Release: pairs with the acquire exchange in remote_free_drain.
    } while (!atomic_compare_exchange_weak_explicit(&owner->mailbox, &first, batch,
                                                    memory_order_release, memory_order_relaxed));
    size_t before = atomic_fetch_add_explicit(&owner->mailbox_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->sent_count, 1, memory_order_relaxed);
    if (before + bytes > MAILBOX_BYTES_MOST ||
        atomic_load_explicit(&owner->is_parked, memory_order_relaxed)) {
        drain_for(owner, self);
    }
}

// The slot is cleared before the batch is posted: a fork between the two loses the batch in the
// child, where the other order would show it twice.
static void post_outbox(struct heap *self, outbox_slot *outbox)
{
    struct batch *batch = outbox_read(outbox);
    atomic_store_explicit(outbox, NULL, memory_order_relaxed);
    compiler_barrier();
    size_t bytes = atomic_load_explicit(&self->outbox_bytes, memory_order_relaxed);
    atomic_store_explicit(&self->outbox_bytes, bytes - batch_bytes(batch), memory_order_relaxed);
    post(self, batch);
}

void remote_free_flush(struct heap *self)
{
    for (size_t i = 0; i < OUTBOX_COUNT; i++) {
        if (outbox_read(&self->outboxes[i]) != NULL) {
            post_outbox(self, &self->outboxes[i]);
        }
    }
}

// Fibonacci hashing spreads neighbouring tags and classes over the slots.
static outbox_slot *outbox_of(struct heap *self, page_entry entry)
{
    return &self->outboxes[(entry * 0x9e3779b1u) >> 27];
}

static struct batch *open_batch(struct heap *self, outbox_slot *outbox, page_entry entry)
{
    if (outbox_read(outbox) != NULL) {
        post_outbox(self, outbox);
    }
    struct batch *batch = batch_take(self);
    if (batch != NULL) {
        atomic_store_explicit(&batch->entry, entry, memory_order_relaxed);
        compiler_barrier();
        atomic_store_explicit(outbox, batch, memory_order_relaxed);
    }
    return batch;
}

void remote_free_send(struct heap *self, void *block, page_entry entry)
{
    outbox_slot *outbox = outbox_of(self, entry);
    struct batch *batch = outbox_read(outbox);
    if (batch == NULL || batch_entry(batch) != entry) {
        batch = open_batch(self, outbox, entry);
        if (batch == NULL) {
            heap_give_locked(block);
            return;
        }
    }
    uint32_t count = batch_count(batch);
    batch->blocks[count] = block;
    compiler_barrier();
    atomic_store_explicit(&batch->count, count + 1, memory_order_relaxed);
    size_t bytes = atomic_load_explicit(&self->outbox_bytes, memory_order_relaxed) +
                   size_class_bytes((class_id)page_entry_class(entry));
    atomic_store_explicit(&self->outbox_bytes, bytes, memory_order_relaxed);
    if (count + 1 == BATCH_BLOCK_COUNT) {
        post_outbox(self, outbox);
    } else if (bytes > OUTBOX_BYTES_MOST) {
        remote_free_flush(self);
    }
}

// Keeps in the batch only the blocks that have changed hands since; the others, in order, go to
// `same`.  Returns how many those are.
static size_t sort_out_strays(struct batch *batch, void **same)
{
    size_t same_count = 0;
    uint32_t stray_count = 0;
    for (uint32_t i = 0; i < batch_count(batch); i++) {
        if (likely(page_map_lookup(batch->blocks[i]) == batch_entry(batch))) {
            same[same_count++] = batch->blocks[i];
        } else {
            batch->blocks[stray_count++] = batch->blocks[i];
        }
    }
    atomic_store_explicit(&batch->count, stray_count, memory_order_relaxed);
    return same_count;
}

struct batch *remote_free_drain(struct heap *heap, struct heap *self)
{
    struct batch *strays = NULL;
    if (atomic_load_explicit(&heap->mailbox, memory_order_relaxed) == NULL) {
        return NULL;
    }
    // Acquire: pairs with the release push in post.
    struct batch *batch = atomic_exchange_explicit(&heap->mailbox, NULL, memory_order_acquire);
    while (batch != NULL) {
        struct batch *next = batch->next;
        void *same[BATCH_BLOCK_COUNT];
        class_id cls = (class_id)page_entry_class(batch_entry(batch));
        atomic_fetch_sub_explicit(&heap->mailbox_bytes, batch_weight(batch), memory_order_relaxed);
        size_t count = sort_out_strays(batch, same);
        size_t kept = self == heap ? bin_push_many(heap, cls, same, count) : 0;
        if (kept < count) {
            slab_flush(&heap->slabs, same + kept, count - kept);
        }
        if (unlikely(batch_count(batch) != 0)) {
            batch->next = strays;
            strays = batch;
        } else {
            batch_give(self, batch);
        }
        batch = next;
    }
    return strays;
}

static void add_counts(const struct batch *batch, size_t *counts)
{
    unsigned cls = page_entry_class(batch_entry(batch));
    if (cls < CLASS_COUNT) {
        counts[cls] += batch_count(batch);
    }
}

void remote_free_count(struct heap *heap, size_t *counts)
{
    for (size_t i = 0; i < OUTBOX_COUNT; i++) {
        struct batch *batch = outbox_read(&heap->outboxes[i]);
        if (batch != NULL) {
            add_counts(batch, counts);
        }
    }
    // Acquire: pairs with the release push in post.
    struct batch *batch = atomic_load_explicit(&heap->mailbox, memory_order_acquire);
    for (; batch != NULL; batch = batch->next) {
        add_counts(batch, counts);
    }
}

void remote_free_forward(struct heap *self, struct batch *strays)
{
    while (strays != NULL) {
        struct batch *next = strays->next;
        for (uint32_t i = 0; i < batch_count(strays); i++) {
            heap_give_locked(strays->blocks[i]);
        }
        batch_give(self, strays);
        strays = next;
    }
}
