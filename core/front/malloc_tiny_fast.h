// malloc of tiny sizes: pop a block that the thread already has.
// Layer: front.  Needs: base, route, harden, thread.
// SPDX-License-Identifier: MIT
//
// One comparison finds everything that isn't a plain hit: a thread without a heap, a heap whose
// gates aren't read yet, a size that isn't tiny.  All have a fast_limit that the size isn't below.
// The class is computed, not looked up: the load of a table cost 4 % on the mixed workload.
#ifndef HAK_FRONT_MALLOC_TINY_FAST_H
#define HAK_FRONT_MALLOC_TINY_FAST_H

#include "front/malloc_slow.h"
#include "thread/bin.h"

static HAK_HOT void *malloc_tiny_fast(size_t bytes)
{
    struct heap *heap = thread_heap;
    if (unlikely(bytes >= heap->fast_limit)) {
        return malloc_slow(bytes);
    }
    void *block = bin_pop(heap, (bytes + TINY_STEP_BYTES - 1) / TINY_STEP_BYTES);
    if (unlikely(block == NULL)) {
        return malloc_slow(bytes);
    }
    return block;
}

#endif
