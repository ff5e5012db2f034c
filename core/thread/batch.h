// Batch: a parcel of freed blocks on the way to their owner; out of band, recycled.
// Layer: thread.  Needs: base, os, region.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_BATCH_H
#define HAK_THREAD_BATCH_H

#include "thread/heap.h"

enum {
    BATCH_BLOCK_COUNT = 61
};

// Invariant: blocks[0 .. count) were freed by the program and belonged to the heap `owner_tag` then.
struct batch {
    struct batch *next;  // in a mailbox or among the spare ones
    uint32_t owner_tag;
    uint32_t byte_count;  // of its blocks
    uint32_t bytes_most;  // posted when it holds more
    _Atomic uint32_t
        count;  // stored after the block, so that a fork finds a valid prefix; relaxed,
                // as statistics look in
    void *_Atomic blocks[BATCH_BLOCK_COUNT];  // likewise
};

_Static_assert(sizeof(struct batch) <= 512, "eight cache lines");

static inline uint32_t batch_count(const struct batch *batch)
{
    return atomic_load_explicit(&batch->count, memory_order_relaxed);
}

static inline void *batch_block(const struct batch *batch, uint32_t index)
{
    return atomic_load_explicit(&batch->blocks[index], memory_order_relaxed);
}

// An empty batch from the thread's spare ones or the pool of all threads, or NULL.
struct batch *batch_take(struct heap *self);

// Takes an emptied batch back.  `self` may be NULL.
void batch_give(struct heap *self, struct batch *batch);

// Makes the count of the spare ones right: in a forked child, as bin_repair does.
void batch_repair(struct heap *self);

// Gives the thread's spare ones to all.
void batch_give_spare(struct heap *self);

// Around fork.
void batch_pool_lock(void);
void batch_pool_unlock(void);

#endif
