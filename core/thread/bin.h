// Bins: pushing and popping, and what happens when one is empty or full.
// Layer: thread.  Needs: base, os, policy, harden, backend.
// SPDX-License-Identifier: MIT
//
// All of it is for the heap's owner.
#ifndef HAK_THREAD_BIN_H
#define HAK_THREAD_BIN_H

#include "base/check.h"
#include "base/compiler.h"
#include "harden/harden_mode.h"
#include "os/os_process.h"
#include "thread/heap.h"

static inline uint32_t bin_count(const struct heap *heap, size_t cls)
{
    hak_assert(heap->bins.room[cls] <= heap->bins.limit[cls]);
    return heap->bins.limit[cls] - heap->bins.room[cls];
}

// The count of a heap that another thread may be using; see struct bins.
__attribute__((no_sanitize_thread)) static inline uint32_t
bin_count_of_other(const struct heap *heap, size_t cls)
{
    uint32_t limit = *(const volatile uint32_t *)&heap->bins.limit[cls];
    uint32_t room = *(const volatile uint32_t *)&heap->bins.room[cls];
    return limit > room ? limit - room : 0;
}

// Pops a block, or returns NULL when the bin is empty.  The count goes down before the list does.
static HAK_HOT void *bin_pop(struct heap *heap, size_t cls)
{
    struct block *block = heap->bins.head[cls];
    if (likely(block != NULL)) {
        struct block *next = link_decode(block->link, heap->link_key);
        heap->bins.room[cls]++;
        compiler_barrier();
        heap->bins.head[cls] = next;
    }
    return block;
}

// The same in a hardened process, where a block's link must lead to another block of the heap.  The
// caller clears it: after it has looked at the rest, as a wide load right behind a short store waits.
static inline struct block *bin_pop_checked(struct heap *heap, size_t cls)
{
    struct block *block = heap->bins.head[cls];
    if (likely(block != NULL)) {
        struct block *next = link_decode(block->link, heap->link_key);
        if (unlikely(next != NULL && page_map_lookup(next) != (heap->slabs.tag | cls))) {
            die_damaged(block, size_class_bytes((class_id)cls));
        }
        heap->bins.room[cls]++;
        compiler_barrier();
        heap->bins.head[cls] = next;
        compiler_barrier();
    }
    return block;
}

// For slow paths, which serve both fronts.
static inline struct block *bin_pop_slow(struct heap *heap, size_t cls)
{
    if (likely(!harden_pads())) {
        return bin_pop(heap, cls);
    }
    struct block *block = bin_pop_checked(heap, cls);
    if (block != NULL) {
        block->link = 0;
    }
    return block;
}

// Pushes a block on a bin that has room.  The list goes up before the count does.
static HAK_HOT void bin_push(struct heap *heap, size_t cls, struct block *block)
{
    block->link = link_encode(heap->bins.head[cls], heap->link_key);
    compiler_barrier();
    heap->bins.head[cls] = block;
    compiler_barrier();
    heap->bins.room[cls]--;
}

// Sets the bounds of the bins from the gates; before the first block.
void bin_init_bounds(void);

// Before the heap's first use.
void bin_init(struct heap *heap);

// Pushes as many of the blocks as there is room for; returns how many.
size_t bin_push_many(struct heap *heap, class_id cls, void *const *blocks, size_t count);

// After a miss: blocks that were set aside become the bin.  False when there were none.
bool bin_take_reserve(struct heap *heap, class_id cls);

// After a miss: how many blocks to fetch; the bin's limit grows.
size_t bin_refill_count(struct heap *heap, class_id cls);

enum {
    FLUSHES_BEFORE_COLLECTING = 2
};  // of a class, without a miss in between

// Is the class only being freed, so that its blocks are collected?
static inline bool bin_is_collecting(const struct heap *heap, size_t cls)
{
    return heap->reserves[cls].flush_count >= FLUSHES_BEFORE_COLLECTING;
}

// Collects a block; dies of one that is freed twice in a row.  False, and nothing done, when the collector
// hasn't room for it.
static inline bool bin_collect(struct heap *heap, size_t cls, void *block)
{
    struct collector *collector = &heap->collector;
    uint32_t count = atomic_load_explicit(&collector->count, memory_order_relaxed);
    size_t bytes = collector->bytes + size_class_bytes((class_id)cls);
    if (unlikely(count != 0 && atomic_load_explicit(&collector->blocks[count - 1],
                                                    memory_order_relaxed) == block)) {
        die_misuse("double free", block, size_class_bytes((class_id)cls));
    }
    if (unlikely(count == COLLECTOR_COUNT || bytes > collector->bytes_most)) {
        return false;
    }
    atomic_store_explicit(&collector->blocks[count], block, memory_order_relaxed);
    collector->bytes = (uint32_t)bytes;
    compiler_barrier();
    atomic_store_explicit(&collector->count, count + 1, memory_order_relaxed);
    return true;
}

// Takes a block whose bin is full: makes room for it, or collects it, or gives it to its slab.  Takes
// and drops the heap's lock.
void bin_overflow(struct heap *heap, class_id cls, void *block);

// Gives the collected blocks to their slabs.  Takes and drops the heap's lock.
void bin_flush_collector(struct heap *heap);

// Gives the stock of one class back to the slabs and its promise of memory back to the others.
void bin_empty(struct heap *heap, class_id cls);

// Makes the counts of a heap right whose thread a fork stopped anywhere: in the child, before another
// thread uses it.
void bin_repair(struct heap *heap);

// Lets the bins of the heap hold 2^scale times what the gates say; what they hold beyond that goes back.
void bin_set_scale(struct heap *heap, unsigned scale);

// Every so many calls, empties the bins that saw no miss and no overflow in the meantime.
void bin_tick(struct heap *heap);

#endif
