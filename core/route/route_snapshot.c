// SPDX-License-Identifier: MIT
#include "route/route_snapshot.h"

#include <string.h>

struct route_snapshot route_at_start;

// A change during the copy leaves the older version with it, so the next look copies again.
void route_snapshot_take(struct route_snapshot *snapshot)
{
    snapshot->version = atomic_load_explicit(&route_table.version, memory_order_acquire);
    memcpy(snapshot->kind, route_table.kind, sizeof snapshot->kind);
}
