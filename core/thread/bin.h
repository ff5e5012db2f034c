// Bins: pushing and popping, and what happens when one is empty or full.
// Layer: thread.  Needs: base, policy, harden, backend.
// SPDX-License-Identifier: MIT
//
// All of it is for the heap's owner.
#ifndef HAK_THREAD_BIN_H
#define HAK_THREAD_BIN_H

#include "base/compiler.h"
#include "thread/heap.h"

// Pops a block, or returns NULL when the bin is empty.  The count goes down before the list does.
static HAK_HOT void *bin_pop(struct bin *bin, uint64_t key)
{
    struct block *block = bin->head;
    if (likely(block != NULL)) {
        uint32_t room = atomic_load_explicit(&bin->room, memory_order_relaxed);
        atomic_store_explicit(&bin->room, room + 1, memory_order_relaxed);
        compiler_barrier();
        bin->head = link_decode(block->link, key);
    }
    return block;
}

// Pushes a block on a bin whose room, `room`, is not 0.  The list goes up before the count does.
static HAK_HOT void bin_push(struct bin *bin, struct block *block, uint64_t key, uint32_t room)
{
    block->link = link_encode(bin->head, key);
    compiler_barrier();
    bin->head = block;
    compiler_barrier();
    atomic_store_explicit(&bin->room, room - 1, memory_order_relaxed);
}

static inline uint32_t bin_room(const struct bin *bin)
{
    return atomic_load_explicit(&bin->room, memory_order_relaxed);
}

static inline uint32_t bin_limit(const struct bin *bin)
{
    return atomic_load_explicit(&bin->limit, memory_order_relaxed);
}

static inline uint32_t bin_count(const struct bin *bin)
{
    return bin_limit(bin) - bin_room(bin);
}

// Sets the bounds of the bins from the gates; before the first block.
void bin_init_bounds(void);

// Pushes as many of the blocks as there is room for; returns how many.
size_t bin_push_many(struct heap *heap, class_id cls, void *const *blocks, size_t count);

// After a miss: blocks that were set aside become the bin.  False when there were none.
bool bin_take_reserve(struct heap *heap, class_id cls);

// After a miss: how many blocks to fetch; the bin's limit grows.
size_t bin_refill_count(struct heap *heap, class_id cls);

// After an overflow: makes room for at least one block, or returns false (the class keeps none).
// Takes and drops the heap's lock.
bool bin_make_room(struct heap *heap, class_id cls);

// Gives the stock of one class back to the slabs and its promise of memory back to the others.
void bin_empty(struct heap *heap, class_id cls);

// Every so many calls, empties the bins that saw no miss and no overflow in the meantime.
void bin_tick(struct heap *heap);

#endif
