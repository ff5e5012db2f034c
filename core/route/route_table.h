// Route table: where the blocks of each class come from.
// Layer: route.  Needs: base, policy.
// SPDX-License-Identifier: MIT
//
// The policies are filled from HAKMEM_TINY_PROFILE before the first block is handed out, then only
// read.  The backends follow the gates of the kinds and may change at any time: they are looked at on a
// miss, blocks that are out go back by their span's backend, and a heap that sees another version than
// its own puts its stocks right (heap_refill.c).
#ifndef HAK_ROUTE_ROUTE_TABLE_H
#define HAK_ROUTE_ROUTE_TABLE_H

#include "route/size_class.h"

#include <stdatomic.h>

enum route_policy {
    ROUTE_TINY_ONLY,   // the class's backend; a failure is returned
    ROUTE_TINY_FIRST,  // the class's backend, then the shared pool
    ROUTE_POOL_ONLY,   // the shared pool
};

// Who cuts a span into blocks, and so takes them back; see backend/backend.h.
enum backend_id {
    BACKEND_LEGACY,
    BACKEND_POOL,
    BACKEND_MID_V3,
    BACKEND_ULTRA,
    BACKEND_V7,
    BACKEND_COUNT,
    BACKEND_LARGE = BACKEND_COUNT,  // not in the table of backends: the span is one block
};

struct route_table {
    uint8_t policy[CLASS_COUNT];  // enum route_policy
    // enum backend_id; not for classes whose policy is ROUTE_POOL_ONLY.  Relaxed: each stands for itself.
    _Atomic uint8_t backend[CLASS_COUNT];
    // The learner moved the class to the lanes, where the gates leave it to LEGACY.  Under the lock of the settings.
    bool is_in_lanes[TINY_CLASS_COUNT];
    // Goes up after backends have changed.  The release increment in route_table_follow_gates pairs
    // with the acquire load in route_version.
    _Atomic uint32_t version;
};

extern struct route_table route_table;

void route_table_init(void);

// Sets the backends by the gates as they are now.  Under the lock of the settings, or before the first
// block is handed out.
void route_table_follow_gates(void);

static inline enum route_policy route_of(class_id cls)
{
    return (enum route_policy)route_table.policy[cls];
}

static inline enum backend_id route_backend(class_id cls)
{
    return (enum backend_id)atomic_load_explicit(&route_table.backend[cls], memory_order_relaxed);
}

// Do threads keep blocks of the class in bins?
static inline bool route_has_bins(class_id cls)
{
    return route_of(cls) != ROUTE_POOL_ONLY && route_backend(cls) != BACKEND_MID_V3;
}

static inline uint32_t route_version(void)
{
    // Acquire: pairs with the release increment in route_table_follow_gates.
    return atomic_load_explicit(&route_table.version, memory_order_acquire);
}

#endif
