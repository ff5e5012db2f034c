// SPDX-License-Identifier: MIT
#include "thread/heap_refill.h"

#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/remote_free.h"

enum {
    REFILL_COUNT_MOST = 256
};

static size_t take_blocks(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    lock_take(&heap->slabs.lock);
    size_t taken = slab_refill(&heap->slabs, cls, blocks, want);
    lock_give(&heap->slabs.lock);
    return taken;
}

// What others sent back first; the bin then may have blocks, and 0 is returned.
static size_t take_after_drain(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    lock_take(&heap->slabs.lock);
    struct batch *strays = remote_free_drain(heap, heap);
    if (bin_count(heap, cls) == 0) {
        taken = slab_refill(&heap->slabs, cls, blocks, want);
    }
    lock_give(&heap->slabs.lock);
    remote_free_forward(heap, strays);
    return taken;
}

// Only one heap's lock may be held at a time, and none while the system is asked for memory.
static size_t take_from_elsewhere(struct heap *heap, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    if (heap_registry_steal(heap, cls)) {
        taken = take_blocks(heap, cls, blocks, want);
    }
    while (taken == 0 && slab_add(&heap->slabs, cls)) {
        taken = take_blocks(heap, cls, blocks, want);
    }
    return taken;
}

void *heap_refill(struct heap *heap, class_id cls)
{
    if (bin_take_reserve(heap, cls)) {
        return bin_pop(heap, cls);
    }
    void *blocks[REFILL_COUNT_MOST];
    size_t want = min_size(bin_refill_count(heap, cls), REFILL_COUNT_MOST);
    size_t taken = take_after_drain(heap, cls, blocks, want);
    if (taken == 0) {
        void *block = bin_pop(heap, cls);
        if (block != NULL) {
            return block;  // others had sent blocks of the class back
        }
        taken = take_from_elsewhere(heap, cls, blocks, want);
    }
    bin_tick(heap);
    if (taken == 0) {
        return NULL;
    }
    // The first block is the caller's.  All others have room: the bin is empty and want <= limit.
    (void)bin_push_many(heap, cls, blocks + 1, taken - 1);
    return blocks[0];
}
