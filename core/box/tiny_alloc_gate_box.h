// Box: tiny_alloc_gate - the one door from the front to the backends, taken when a bin is empty; in
//   the gated front, before every malloc of a tiny class.
// Boundary: front -> thread.  The front calls it and asks no slab itself.
// Gate: HAKMEM_TINY_PROFILE (conservative).  POOL_ONLY bands have bins of no capacity and are served
//   one block a visit by the shared pool; TINY_FIRST falls back on it; TINY_ONLY does not.
// Cost: nothing on a hit; one look at the route table on a miss.  In the gated front, that on a hit.
// Record: docs/analysis/0002-bin-bounds.md
// SPDX-License-Identifier: MIT
#ifndef HAK_BOX_TINY_ALLOC_GATE_BOX_H
#define HAK_BOX_TINY_ALLOC_GATE_BOX_H

#include "box/tiny_alloc_gate_shape_env_box.h"
#include "box/tiny_route_box.h"
#include "front/malloc_tiny_fast.h"
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

static inline void *tiny_alloc_gate_decline(struct heap *heap)
{
    front_count(&heap->gated.counters.declined);
    return NULL;
}

// The gated front: a block from the bin of a tiny class.  NULL when the route policy leaves the class
// to the pool, or when the bin is empty.  The policy allows no other difference here: what TINY_ONLY
// and TINY_FIRST do about an empty bin is for tiny_alloc_gate_take.
static HAK_HOT void *tiny_alloc_gate_fast(struct heap *heap, class_id cls)
{
    if (likely(alloc_gate_shape_enabled())) {
        return likely(g_tiny_route[cls] != ROUTE_POOL_ONLY) ? malloc_tiny_fast_for_class(heap, cls)
                                                            : tiny_alloc_gate_decline(heap);
    }
    return likely(tiny_route_get(heap, cls) != ROUTE_POOL_ONLY)
               ? malloc_tiny_fast_for_class(heap, cls)
               : tiny_alloc_gate_decline(heap);
}

#endif
