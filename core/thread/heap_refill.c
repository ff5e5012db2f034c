// SPDX-License-Identifier: MIT
#include "thread/heap_refill.h"

#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/remote_free.h"

enum {
    REFILL_COUNT_MOST = 256
};

// Takes blocks out of the heap's slabs, adding one where there is none.  Under the lock; *is_short
// says that the heap has no free block of the class left.
static size_t take_blocks(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    size_t taken = slab_refill(&heap->slabs, cls, blocks, want);
    if (taken == 0 && slab_add(&heap->slabs, cls)) {
        taken = slab_refill(&heap->slabs, cls, blocks, want);
    }
    return taken;
}

static size_t refill_locked(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    bool can_steal = heap_registry_parked_count() != 0;
    lock_take(&heap->slabs.lock);
    struct batch *strays = remote_free_drain(heap, heap);
    size_t taken = 0;
    if (bin_count(heap, cls) == 0) {
        taken = can_steal ? slab_refill(&heap->slabs, cls, blocks, want)
                          : take_blocks(heap, cls, blocks, want);
    }
    lock_give(&heap->slabs.lock);
    remote_free_forward(heap, strays);
    return taken;
}

// Only one heap's lock may be held at a time, so a parked heap is asked with our own lock dropped.
static size_t refill_after_stealing(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    (void)heap_registry_steal(heap, cls);
    lock_take(&heap->slabs.lock);
    size_t taken = take_blocks(heap, cls, blocks, want);
    lock_give(&heap->slabs.lock);
    return taken;
}

void *heap_refill(struct heap *heap, class_id cls)
{
    if (bin_take_reserve(heap, cls)) {
        return bin_pop(heap, cls);
    }
    void *blocks[REFILL_COUNT_MOST];
    size_t want = min_size(bin_refill_count(heap, cls), REFILL_COUNT_MOST);
    size_t taken = refill_locked(heap, cls, blocks, want);
    if (taken == 0) {
        void *block = bin_pop(heap, cls);
        if (block != NULL) {
            return block;  // others had sent blocks of the class back
        }
        taken = refill_after_stealing(heap, cls, blocks, want);
    }
    bin_tick(heap);
    if (taken == 0) {
        return NULL;
    }
    // The first block is the caller's.  All others have room: the bin is empty and want <= limit.
    (void)bin_push_many(heap, cls, blocks + 1, taken - 1);
    return blocks[0];
}
