// Box: tiny_alloc_gate - the one door from the front to the backends, taken when a bin is empty.
// Boundary: front -> thread.  The front calls it on a miss and asks no slab itself.
// Gate: HAKMEM_TINY_PROFILE (conservative).  POOL_ONLY bands have bins of no capacity and are served
//   one block a visit by the shared pool; TINY_FIRST falls back on it; TINY_ONLY does not.
// Cost: nothing on a hit; one look at the route table on a miss.
// Record: docs/analysis/0002-bin-bounds.md
// SPDX-License-Identifier: MIT
#ifndef HAK_BOX_TINY_ALLOC_GATE_BOX_H
#define HAK_BOX_TINY_ALLOC_GATE_BOX_H

#include "route/route_table.h"
#include "thread/heap_refill.h"

// A block of the class, or NULL when memory or the limit is reached; errno is left alone.
static inline void *tiny_alloc_gate_take(struct heap *heap, class_id cls)
{
    enum route_policy policy = route_of(cls);
    if (unlikely(heap->kind != HEAP_THREAD)) {
        return heap_shared_take(heap_exit, cls);
    }
    if (unlikely(policy == ROUTE_POOL_ONLY)) {
        return heap_shared_take(heap_pool, cls);
    }
    void *block = heap_refill(heap, cls);
    if (unlikely(block == NULL) && policy == ROUTE_TINY_FIRST) {
        block = heap_shared_take(heap_pool, cls);
    }
    return block;
}

#endif
