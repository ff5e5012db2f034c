// SPDX-License-Identifier: MIT
#include "thread/remote_free.h"

#include "backend/backend.h"
#include "base/check.h"
#include "thread/batch.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"

enum {
    OUTBOX_BYTES_MOST = 64 << 10,     // of blocks that a thread holds back in its outboxes
    MAILBOX_BYTES_MOST = 256 << 10,   // above: whoever posts sees to it that the mailbox is emptied
    BATCH_BYTES_LEAST = 8 << 10,      // what a batch in a mailbox counts for at least: each of its
                                      // blocks, however small, may keep a page from going back
    LANE_BATCH_BYTES_MOST = 2 << 10,  // of a lane's blocks that a thread holds back
};

typedef _Atomic(struct batch *) outbox_slot;

static struct batch *outbox_read(outbox_slot *outbox)
{
    return atomic_load_explicit(outbox, memory_order_relaxed);
}

// Empties a batch: into the bins of the owner, if that is the caller, as far as they have room, the
// rest into the slabs.  Blocks that have changed hands since stay in it.
static void drain_batch(struct heap *heap, struct heap *self, struct batch *batch)
{
    void *rest[BATCH_BLOCK_COUNT];
    size_t rest_count = 0;
    uint32_t stray_count = 0;
    uint32_t count = batch_count(batch);
    hak_assert(count <= BATCH_BLOCK_COUNT);
    for (uint32_t i = 0; i < count; i++) {
        void *block = batch_block(batch, i);
        page_entry cls = page_map_lookup(block) ^ heap->slabs.tag;
        if (unlikely(cls == 0 || cls >= CLASS_COUNT)) {
            atomic_store_explicit(&batch->blocks[stray_count++], block, memory_order_relaxed);
        } else if (self == heap && heap->bins.room[cls] != 0 && heap->bins.head[cls] != block) {
            bin_push(heap, cls, block);
        } else {
            rest[rest_count++] = block;
        }
    }
    atomic_store_explicit(&batch->count, stray_count, memory_order_relaxed);
    if (rest_count != 0) {
        backend_flush(&heap->slabs, rest, rest_count);
    }
}

// A lane has no thread that would look into a mailbox: the batch goes straight to its slabs.
static void give_to_lane(struct heap *lane, struct heap *self, struct batch *batch)
{
    lock_take(lane->slabs.lock);
    drain_batch(lane, NULL, batch);
    lock_give(lane->slabs.lock);
    batch->next = NULL;
    remote_free_forward(self, batch);  // blocks freed twice, if any
    heap_purge_if_due(lane);
}

// What a batch adds to its owner's mailbox_bytes.
static size_t batch_weight(const struct batch *batch)
{
    return max_size(batch->byte_count, BATCH_BYTES_LEAST);
}

// The owner is idle, ended, or slow to look: empty its mailbox in its place.
static void drain_for(struct heap *owner, struct heap *self)
{
    bool is_urgent = atomic_load_explicit(&owner->is_parked, memory_order_relaxed) ||
                     atomic_load_explicit(&owner->mailbox_bytes, memory_order_relaxed) >
                         4 * (size_t)MAILBOX_BYTES_MOST;
    if (!lock_try(owner->slabs.lock)) {
        if (!is_urgent) {
            return;
        }
        lock_take(owner->slabs.lock);
    }
    struct batch *strays = remote_free_drain(owner, self);
    lock_give(owner->slabs.lock);
    remote_free_forward(self, strays);
    heap_purge_if_due(owner);
}

static void post(struct heap *self, struct batch *batch)
{
    struct heap *owner = heap_registry_lookup(batch->owner_tag);
    if (unlikely(owner->kind == HEAP_LANE)) {
        give_to_lane(owner, self, batch);
        return;
    }
    size_t bytes = batch_weight(batch);
    struct batch *first = atomic_load_explicit(&owner->mailbox, memory_order_relaxed);
    do {
        batch->next = first;
        // Release for the batch: pairs with the exchange in remote_free_drain.  Acquire for is_parked
        // below: whoever parks the heap empties its mailbox after saying so, and if that came before
        // this push, the push reads what that exchange released.
    } while (!atomic_compare_exchange_weak_explicit(&owner->mailbox, &first, batch,
                                                    memory_order_acq_rel, memory_order_relaxed));
    size_t before = atomic_fetch_add_explicit(&owner->mailbox_bytes, bytes, memory_order_relaxed);
    size_t sent_count = atomic_load_explicit(&self->sent_count, memory_order_relaxed);
    atomic_store_explicit(&self->sent_count, sent_count + 1, memory_order_relaxed);
    if (before + bytes > MAILBOX_BYTES_MOST ||
        atomic_load_explicit(&owner->is_parked, memory_order_relaxed)) {
        drain_for(owner, self);
    }
}

static void add_outbox_bytes(struct heap *self, size_t bytes)
{
    size_t before = atomic_load_explicit(&self->outbox_bytes, memory_order_relaxed);
    atomic_store_explicit(&self->outbox_bytes, before + bytes, memory_order_relaxed);
}

// The slot is cleared before the batch is posted: a fork between the two loses the batch in the
// child, where the other order would show it twice.
static void post_outbox(struct heap *self, outbox_slot *outbox)
{
    struct batch *batch = outbox_read(outbox);
    atomic_store_explicit(outbox, NULL, memory_order_relaxed);
    compiler_barrier();
    add_outbox_bytes(self, -(size_t)batch->byte_count);
    post(self, batch);
}

void remote_free_flush(struct heap *self)
{
    for (size_t i = 0; i < OUTBOX_COUNT; i++) {
        if (outbox_read(&self->outboxes[i]) != NULL) {
            post_outbox(self, &self->outboxes[i]);
        }
    }
    // A fork between two stores may have left the sum wrong.
    atomic_store_explicit(&self->outbox_bytes, 0, memory_order_relaxed);
}

static outbox_slot *outbox_of(struct heap *self, uint32_t owner_tag)
{
    return &self->outboxes[owner_tag % OUTBOX_COUNT];
}

// Opens a batch for an owner; the one that another owner had there is posted.
static bool open_batch(struct heap *self, outbox_slot *outbox, uint32_t owner_tag)
{
    if (outbox_read(outbox) != NULL) {
        post_outbox(self, outbox);
    }
    struct batch *batch = batch_take(self);
    if (batch == NULL) {
        return false;
    }
    batch->owner_tag = owner_tag;
    batch->byte_count = 0;
    batch->bytes_most = heap_registry_lookup(owner_tag)->kind == HEAP_LANE ? LANE_BATCH_BYTES_MOST
                                                                           : OUTBOX_BYTES_MOST;
    compiler_barrier();
    atomic_store_explicit(outbox, batch, memory_order_relaxed);
    return true;
}

static void append(struct heap *self, outbox_slot *outbox, void *block, page_entry entry)
{
    struct batch *batch = outbox_read(outbox);
    size_t block_bytes = size_class_bytes((class_id)page_entry_class(entry));
    uint32_t count = batch_count(batch);
    hak_assert(count < BATCH_BLOCK_COUNT);
    atomic_store_explicit(&batch->blocks[count], block, memory_order_relaxed);
    compiler_barrier();
    atomic_store_explicit(&batch->count, count + 1, memory_order_relaxed);
    batch->byte_count += (uint32_t)block_bytes;
    add_outbox_bytes(self, block_bytes);
    size_t held_bytes = atomic_load_explicit(&self->outbox_bytes, memory_order_relaxed);
    if (unlikely(count + 1 == BATCH_BLOCK_COUNT || held_bytes > OUTBOX_BYTES_MOST ||
                 batch->byte_count > batch->bytes_most)) {
        post_outbox(self, outbox);
    }
}

bool remote_free_append(struct heap *self, void *block, page_entry entry)
{
    outbox_slot *outbox = outbox_of(self, page_entry_tag(entry));
    const struct batch *batch = outbox_read(outbox);
    // A fork may have stopped the thread before it posted a full batch.
    if (batch == NULL || batch->owner_tag != page_entry_tag(entry) ||
        batch_count(batch) == BATCH_BLOCK_COUNT) {
        return false;
    }
    append(self, outbox, block, entry);
    return true;
}

void remote_free_send(struct heap *self, void *block, page_entry entry)
{
    uint32_t owner_tag = page_entry_tag(entry);
    outbox_slot *outbox = outbox_of(self, owner_tag);
    if (open_batch(self, outbox, owner_tag)) {
        append(self, outbox, block, entry);
    } else {
        heap_give_locked(block);
    }
}

struct batch *remote_free_drain(struct heap *heap, struct heap *self)
{
    struct batch *strays = NULL;
    // Acquire for the batches and release for is_parked: pairs with the push in post.
    struct batch *batch = atomic_exchange_explicit(&heap->mailbox, NULL, memory_order_acq_rel);
    size_t drained_bytes = 0;
    while (batch != NULL) {
        struct batch *next = batch->next;
        drained_bytes += batch_weight(batch);
        drain_batch(heap, self, batch);
        if (unlikely(batch_count(batch) != 0)) {
            batch->next = strays;
            strays = batch;
        } else {
            batch_give(self, batch);
        }
        batch = next;
    }
    atomic_fetch_sub_explicit(&heap->mailbox_bytes, drained_bytes, memory_order_relaxed);
    return strays;
}

static void add_counts(const struct batch *batch, size_t *counts)
{
    uint32_t count = batch_count(batch);
    for (uint32_t i = 0; i < count; i++) {
        unsigned cls = page_entry_class(page_map_lookup(batch_block(batch, i)));
        counts[cls < CLASS_COUNT ? cls : 0]++;
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
    // Acquire: pairs with the push in post.
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
            heap_give_locked(batch_block(strays, i));
        }
        batch_give(self, strays);
        strays = next;
    }
}

void remote_free_empty_mailbox(struct heap *heap, struct heap *self)
{
    lock_take(heap->slabs.lock);
    struct batch *strays = remote_free_drain(heap, self);
    lock_give(heap->slabs.lock);
    remote_free_forward(self, strays);
}
