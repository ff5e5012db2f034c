// What the gated front keeps in each heap: the thread's copy of the routes, and its counters.
// Layer: thread.  Needs: base, policy, route.
// SPDX-License-Identifier: MIT
//
// The gated front runs malloc and free of tiny blocks as the design memo drew them, over the bins that
// the fused front has.  A process has one front for all its life, chosen from the gates; the fused one
// never looks at what is here.
#ifndef HAK_THREAD_GATED_FRONT_H
#define HAK_THREAD_GATED_FRONT_H

#include "policy/gates.h"
#include "route/route_snapshot.h"

// Which way the allocations of a heap went.  The owner alone adds; statistics read, relaxed.
//
// Invariant: every malloc of a tiny class is counted once, under the kind of its route or as
// declined; each of the former has read its kind from the snapshot or from the frozen table.
struct front_counters {
    _Atomic size_t policy_lookups;  // calls of tiny_route_get
    _Atomic size_t declined;        // POOL_ONLY: the pool's
    _Atomic size_t mallocs[BACKEND_COUNT];
    _Atomic size_t frees[BACKEND_COUNT];
    _Atomic size_t malloc_snapshot_reads;
    _Atomic size_t malloc_static_reads;
    _Atomic size_t free_snapshot_reads;
    _Atomic size_t free_static_reads;
};

struct gated_front {
    struct route_snapshot routes;
    struct front_counters counters;
};

// Does a gate ask for the gated front?
static inline bool gated_front_is_wanted(void)
{
    return gates.alloc_gate_shape != FRONT_CHOICE_FUSED ||
           gates.alloc_route_shape != FRONT_CHOICE_FUSED ||
           gates.tiny_static_route != FRONT_CHOICE_FUSED ||
           gates.free_static_route != FRONT_CHOICE_FUSED;
}

static HAK_HOT void front_count(_Atomic size_t *counter)
{
    size_t count = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, count + 1, memory_order_relaxed);
}

#endif
