// A copy of the routes of the tiny classes, renewed when the route table has changed.
// Layer: route.  Needs: base.
// SPDX-License-Identifier: MIT
//
// The gated front asks a copy for the route kind of each block: its thread's own, which follows the
// table, or the one made at start, which doesn't.
#ifndef HAK_ROUTE_ROUTE_SNAPSHOT_H
#define HAK_ROUTE_ROUTE_SNAPSHOT_H

#include "base/compiler.h"
#include "route/route_table.h"

// Only one thread uses it.  version 0: nothing was copied yet, as the table's starts at 1.
struct route_snapshot {
    uint32_t version;
    uint8_t kind[TINY_CLASS_COUNT];  // enum backend_id
};

// The routes at start.  Written by process_start and process_settle only, then read by all.
extern struct route_snapshot route_at_start;

void route_snapshot_take(struct route_snapshot *snapshot);

static inline enum backend_id route_snapshot_kind(struct route_snapshot *snapshot, class_id cls)
{
    if (unlikely(snapshot->version != route_version())) {
        route_snapshot_take(snapshot);
    }
    return (enum backend_id)snapshot->kind[cls];
}

#endif
