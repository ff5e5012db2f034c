// Lanes: slabs that all threads share, a set for each processor; the backend MID_V3.
// Layer: thread.  Needs: base, os, region, route, backend.
// SPDX-License-Identifier: MIT
//
//   malloc ── the thread's stock ── empty ──► a few blocks of this processor's lane, under its lock
//   free ── the stock ── full ──► outbox (by lane) ── full ──► the lane's slabs, under its lock
//
// A lane is a heap without a thread.  Its tag is no thread's, so that free of its blocks goes slow, and
// classes that are served from lanes have no bins: a thread keeps a stock of at most eight blocks and
// 2 KiB for each, whose addresses lie out of band.  What hundreds of threads hold in partly used slabs
// and bins of their own is what this saves.
#ifndef HAK_THREAD_LANE_H
#define HAK_THREAD_LANE_H

#include "thread/heap.h"

// A block of the class, which is one of the tiny ones, or NULL when memory or the limit is reached.
void *lane_take(struct heap *heap, class_id cls);

// Has the thread ever taken blocks of lanes?
static inline bool heap_has_stocks(const struct heap *heap)
{
    return atomic_load_explicit(&heap->stocks, memory_order_relaxed) != NULL;
}

// Keeps a freed block in the thread's stock.  False: it is no lane's, or the stock has no room.  Dies
// on one that is in it.
bool lane_keep(struct heap *heap, void *block, page_entry entry);

// Gives the stock of a class, or of all, to the outboxes.
void lane_flush_class(struct heap *heap, class_id cls);
void lane_flush(struct heap *heap);

// Adds the blocks in the heap's stocks to counts[class]; the owner may change them meanwhile.
void lane_count_stocks(const struct heap *heap, size_t *counts);

#endif
