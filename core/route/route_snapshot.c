// SPDX-License-Identifier: MIT
#include "route/route_snapshot.h"

struct route_snapshot route_at_start;

// A change during the copy leaves the older version with it, so the next look copies again.
void route_snapshot_take(struct route_snapshot *snapshot)
{
    snapshot->version = route_version();
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        snapshot->kind[cls] = (uint8_t)route_backend((class_id)cls);
    }
}
