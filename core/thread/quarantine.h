// Quarantine: freed blocks wait in a random order before they can be handed out again.
// Layer: thread.  Needs: base, os, region, route, harden, backend.
// SPDX-License-Identifier: MIT
//
// A freed block takes a random slot, and the block that was there goes on to its bin or its owner.  So a
// block waits for as many frees as there are slots, on the average, and which of them comes back next is
// not for the program to know: the delay and the random placement are one step.  Large classes have fewer
// slots, and the largest none, so that a thread holds back little memory.
#ifndef HAK_THREAD_QUARANTINE_H
#define HAK_THREAD_QUARANTINE_H

#include "thread/heap.h"

enum {
    QUARANTINE_TINY_COUNT = 128,   // blocks of up to 1 KiB
    QUARANTINE_MEDIUM_COUNT = 16,  // and of up to QUARANTINE_BYTES_MOST
    QUARANTINE_BYTES_MOST = 28 << 10,
};

// Invariant: a slot holds a free block of any heap but a first-class one, cleared, its trailer saying
// that it is freed; or NULL.  Only the owner writes; statistics read.
struct quarantine {
    uint64_t random;
    void *_Atomic tiny[QUARANTINE_TINY_COUNT];
    void *_Atomic medium[QUARANTINE_MEDIUM_COUNT];
};

// Gives the heap its quarantine; without one, when memory is out, blocks don't wait.
void quarantine_make(struct heap *heap);

// 64 random bits, of which the high ones are the better.
static inline uint64_t quarantine_random(struct quarantine *quarantine)
{
    quarantine->random = quarantine->random * 6364136223846793005u + 1442695040888963407u;
    return quarantine->random;
}

// The slot for the next block of a class that waits.
static inline void *_Atomic *quarantine_slot(struct quarantine *quarantine, size_t class_bytes)
{
    enum {
        TINY_SHIFT = 64 - 7,
        MEDIUM_SHIFT = 64 - 4,
    };
    return class_bytes <= TINY_BYTES_MOST ? &quarantine->tiny[quarantine->random >> TINY_SHIFT]
                                          : &quarantine->medium[quarantine->random >> MEDIUM_SHIFT];
}

// Fetches the block whose turn is next: it has not been touched for long.
static inline void quarantine_look_ahead(struct quarantine *quarantine, size_t class_bytes)
{
    __builtin_prefetch(
        atomic_load_explicit(quarantine_slot(quarantine, class_bytes), memory_order_relaxed), 1);
}

// Puts a block in and returns the one whose turn it is, or NULL.
static inline void *quarantine_swap(struct quarantine *quarantine, size_t class_bytes, void *block)
{
    if (unlikely(class_bytes > QUARANTINE_BYTES_MOST)) {
        return block;
    }
    void *_Atomic *slot = quarantine_slot(quarantine, class_bytes);
    (void)quarantine_random(quarantine);
    void *former = atomic_load_explicit(slot, memory_order_relaxed);
    atomic_store_explicit(slot, block, memory_order_relaxed);
    return former;
}

// Shuffles blocks that come fresh from a slab; dies when the first word of any but the first was written
// meanwhile.
void quarantine_shuffle(struct quarantine *quarantine, void **blocks, size_t count);

// Gives a freed block where it belongs; dies when its first word was written since.
void quarantine_release(struct heap *heap, void *block);

// Empties the calling thread's quarantine; dies when one of its blocks was written.
void quarantine_flush(struct heap *heap);

// Adds the blocks that wait to counts[class]; the owner may change them meanwhile.
void quarantine_count(const struct heap *heap, size_t *counts);

#endif
