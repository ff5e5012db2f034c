// Box: tiny_free_route_cache_env - the route kind of a tiny class for free, from a snapshot or frozen.
// Boundary: front -> thread.
// Gate: HAKMEM_FREE_STATIC_ROUTE (fused).  0 and fused: the thread's snapshot, renewed when the routes
//   change; 1: the routes as they were at start, whatever changes later.
// Cost: nothing in the fused front; in the gated one a load, and a comparison of versions for 0.
// Record: docs/analysis/0009-gated-front.md
// SPDX-License-Identifier: MIT
#ifndef HAK_BOX_TINY_FREE_ROUTE_CACHE_ENV_BOX_H
#define HAK_BOX_TINY_FREE_ROUTE_CACHE_ENV_BOX_H

#include "thread/heap.h"

static inline bool tiny_free_static_route_enabled(void)
{
    return gates.free_static_route == FRONT_CHOICE_1;
}

// The calling thread owns the heap.
static inline enum backend_id tiny_free_route_get(struct heap *heap, class_id cls)
{
    if (likely(tiny_free_static_route_enabled())) {
        front_count(&heap->gated.counters.free_static_reads);
        return (enum backend_id)route_at_start.kind[cls];
    }
    front_count(&heap->gated.counters.free_snapshot_reads);
    return route_snapshot_kind(&heap->gated.routes, cls);
}

#endif
