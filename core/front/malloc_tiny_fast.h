// malloc of tiny sizes: pop a block that the thread already has.
// Layer: front.  Needs: base, route, harden, thread.
// SPDX-License-Identifier: MIT
//
// One comparison finds everything that isn't a plain hit: a thread without a heap, a heap whose
// gates aren't read yet, a size that isn't tiny.  All have a fast_limit that the size isn't below.
// The class is computed, not looked up: the load of a table cost 4 % on the mixed workload.
#ifndef HAK_FRONT_MALLOC_TINY_FAST_H
#define HAK_FRONT_MALLOC_TINY_FAST_H

#include "box/tiny_static_route_box.h"
#include "front/malloc_slow.h"
#include "thread/bin.h"

// `kind` is a constant, of interest to the slow path only.
static HAK_HOT void *malloc_tiny_fast(size_t bytes, enum block_kind kind)
{
    struct heap *heap = thread_heap;
    if (unlikely(bytes >= heap->fast_limit)) {
        return malloc_slow(bytes, kind);
    }
    void *block = bin_pop(heap, (bytes + TINY_STEP_BYTES - 1) / TINY_STEP_BYTES);
    if (unlikely(block == NULL)) {
        return malloc_slow(bytes, kind);
    }
    return block;
}

// Counts a malloc whose route isn't LEGACY.
HAK_COLD void malloc_tiny_count_rare(struct heap *heap, enum backend_id kind);

// The gated front's malloc from the bin of a tiny class, NULL when that is empty.  All backends stock
// the same bins, but for MID_V3, which stocks none, so a route only decides where the malloc is counted:
// in an arm of a switch, or with LEGACY as the likely one.
static HAK_HOT void *malloc_tiny_fast_for_class(struct heap *heap, class_id cls)
{
    _Atomic size_t *mallocs = heap->gated.counters.mallocs;
    enum backend_id kind = tiny_static_route_get(heap, cls);
    if (gates.alloc_route_shape == FRONT_CHOICE_1) {
        if (likely(kind == BACKEND_LEGACY)) {
            front_count(&mallocs[BACKEND_LEGACY]);
            return bin_pop(heap, cls);
        }
        malloc_tiny_count_rare(heap, kind);
        return bin_pop(heap, cls);
    }
    switch (kind) {
    case BACKEND_ULTRA:
        front_count(&mallocs[BACKEND_ULTRA]);
        break;
    case BACKEND_V7:
        front_count(&mallocs[BACKEND_V7]);
        break;
    case BACKEND_MID_V3:
        front_count(&mallocs[BACKEND_MID_V3]);
        break;
    default:
        front_count(&mallocs[BACKEND_LEGACY]);
    }
    return bin_pop(heap, cls);
}

#endif
