// Route table: where the blocks of each class come from.
// Layer: route.  Needs: base, policy.
// SPDX-License-Identifier: MIT
//
// Filled from the gates before the first block is handed out, then only read.
#ifndef HAK_ROUTE_ROUTE_TABLE_H
#define HAK_ROUTE_ROUTE_TABLE_H

#include "route/size_class.h"

enum route_policy {
    ROUTE_TINY_ONLY,   // the thread's own slabs; a failure is returned
    ROUTE_TINY_FIRST,  // the thread's own slabs, then the shared pool
    ROUTE_POOL_ONLY,   // the shared pool: the class has no bins
};

// Which of the tiny backends a class's blocks come from.
enum route_kind {
    ROUTE_LEGACY,
    ROUTE_ULTRA,
    ROUTE_MID_V3,
    ROUTE_V7,
    ROUTE_KIND_COUNT,
};

struct route_table {
    uint8_t policy[CLASS_COUNT];  // enum route_policy
    uint8_t kind[CLASS_COUNT];    // enum route_kind
    // Counts the changes, so that who keeps a copy knows when it is old.  Stored with release after
    // the change; pairs with the acquire load in route_snapshot_kind.
    _Atomic uint32_t version;
};

extern struct route_table route_table;

void route_table_init(void);

static inline enum route_policy route_of(class_id cls)
{
    return (enum route_policy)route_table.policy[cls];
}

#endif
