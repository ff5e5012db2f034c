// SPDX-License-Identifier: MIT
#include "route/route_table.h"

#include "policy/gates.h"

#include <stdatomic.h>

struct route_table route_table;

// In the order of the words of the gate: conservative, hot, full, off.
static const uint8_t policy_of_band[4][BAND_COUNT] = {
    {ROUTE_TINY_FIRST, ROUTE_TINY_FIRST, ROUTE_TINY_FIRST, ROUTE_TINY_FIRST, ROUTE_TINY_FIRST,
     ROUTE_TINY_FIRST, ROUTE_TINY_FIRST, ROUTE_TINY_FIRST},
    {ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_FIRST,
     ROUTE_TINY_FIRST, ROUTE_TINY_FIRST, ROUTE_POOL_ONLY},
    {ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY,
     ROUTE_TINY_ONLY, ROUTE_TINY_ONLY, ROUTE_TINY_ONLY},
    {ROUTE_POOL_ONLY, ROUTE_POOL_ONLY, ROUTE_POOL_ONLY, ROUTE_POOL_ONLY, ROUTE_POOL_ONLY,
     ROUTE_POOL_ONLY, ROUTE_POOL_ONLY, ROUTE_POOL_ONLY},
};

void route_table_init(void)
{
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        route_table.policy[cls] =
            cls < TINY_CLASS_COUNT
                ? policy_of_band[gates.tiny_profile][size_class_band((class_id)cls)]
                : ROUTE_TINY_FIRST;
        route_table.kind[cls] = ROUTE_LEGACY;
    }
    // Pairs with the acquire load in route_snapshot_kind.
    atomic_fetch_add_explicit(&route_table.version, 1, memory_order_release);
}
