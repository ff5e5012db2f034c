// SPDX-License-Identifier: MIT
#include "thread/quarantine.h"

#include "harden/wipe.h"
#include "os/os_process.h"
#include "region/record_pool.h"
#include "thread/heap_give.h"

_Static_assert((int)QUARANTINE_BYTES_MOST < (int)REMOTE_BYTES_MOST,
               "what waits may be in an outbox");

static struct quarantine *quarantine_of(const struct heap *heap)
{
    return atomic_load_explicit(&heap->quarantine, memory_order_relaxed);
}

void quarantine_make(struct heap *heap)
{
    if (quarantine_of(heap) != NULL) {
        return;
    }
    struct quarantine *quarantine = record_take(sizeof *quarantine);
    if (quarantine != NULL) {
        quarantine->random = heap->link_key ^ harden.key;
    }
    // Release: pairs with the acquire load in quarantine_count.
    atomic_store_explicit(&heap->quarantine, quarantine, memory_order_release);
}

// A link will cover the first word of a block that goes to a bin.
static inline void look_at_first_word(const void *pointer)
{
    const struct block *block = pointer;
    if (unlikely(block->link != 0)) {
        class_id cls = (class_id)page_entry_class(page_map_lookup(block));
        die_damaged(block, size_class_bytes(cls) - TRAILER_BYTES);
    }
}

void quarantine_shuffle(struct quarantine *quarantine, void **blocks, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)((quarantine_random(quarantine) >> 32) * i >> 32);
        void *block = blocks[i - 1];
        blocks[i - 1] = blocks[other];
        look_at_first_word(blocks[i - 1]);
        blocks[other] = block;
    }
}

// Many of a class that is only being freed come through here: they are collected, as in free_slow.
static inline void give_own(struct heap *heap, class_id cls, void *block)
{
    bool is_collected =
        heap->bins.room[cls] == 0 && bin_is_collecting(heap, cls) && bin_collect(heap, cls, block);
    if (!is_collected) {
        heap_give_own(heap, cls, block);
    }
}

void quarantine_release(struct heap *heap, void *block)
{
    page_entry entry = page_map_lookup(block);
    page_entry cls = entry ^ heap->slabs.tag;
    look_at_first_word(block);
    if (likely(cls < CLASS_COUNT) && heap->kind == HEAP_THREAD) {
        give_own(heap, (class_id)cls, block);
    } else {
        heap_give_foreign(heap, block, entry);
    }
}

static void flush_slots(struct heap *heap, void *_Atomic *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *block = atomic_load_explicit(&slots[i], memory_order_relaxed);
        if (block == NULL) {
            continue;
        }
        atomic_store_explicit(&slots[i], NULL, memory_order_relaxed);
        compiler_barrier();  // a fork in between loses the block in the child
        class_id cls = (class_id)page_entry_class(page_map_lookup(block));
        if (unlikely(!wipe_block_is_clean(block, size_class_bytes(cls)))) {
            die_damaged(block, size_class_bytes(cls) - TRAILER_BYTES);
        }
        quarantine_release(heap, block);
    }
}

void quarantine_flush(struct heap *heap)
{
    struct quarantine *quarantine = quarantine_of(heap);
    if (quarantine != NULL) {
        flush_slots(heap, quarantine->tiny, QUARANTINE_TINY_COUNT);
        flush_slots(heap, quarantine->medium, QUARANTINE_MEDIUM_COUNT);
    }
}

static void add_counts(void *const _Atomic *slots, size_t slot_count, size_t *counts)
{
    for (size_t i = 0; i < slot_count; i++) {
        const void *block = atomic_load_explicit(&slots[i], memory_order_relaxed);
        unsigned cls = block != NULL ? page_entry_class(page_map_lookup(block)) : 0;
        counts[cls < CLASS_COUNT ? cls : 0]++;
    }
}

void quarantine_count(const struct heap *heap, size_t *counts)
{
    // Acquire: pairs with the release store in quarantine_make.
    const struct quarantine *quarantine =
        atomic_load_explicit(&heap->quarantine, memory_order_acquire);
    if (quarantine != NULL) {
        add_counts(quarantine->tiny, QUARANTINE_TINY_COUNT, counts);
        add_counts(quarantine->medium, QUARANTINE_MEDIUM_COUNT, counts);
    }
}
