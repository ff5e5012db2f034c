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
    }
    route_table_follow_gates();
}

// Does a mask of bands have the band of a tiny class?  Bands C0 and C1 are one class: the bit of either
// counts.
static bool mask_has(const uint64_t *mask, class_id cls)
{
    uint64_t bits = cls == 1 ? 3 : 1ull << size_class_band(cls);
    return (gate_live(mask) & bits) != 0;
}

// Where several are on for a class: ULTRA before V7 before MID_V3.
static enum backend_id choose_backend(class_id cls)
{
    if (cls >= TINY_CLASS_COUNT) {
        return BACKEND_POOL;
    }
    unsigned band = size_class_band(cls);
    if ((band == 7 && gate_is_on(&gates.tiny_c7_ultra)) ||
        (band == 6 && gate_is_on(&gates.tiny_c6_ultra))) {
        return BACKEND_ULTRA;
    }
    if (gate_is_on(&gates.small_heap_v7) && mask_has(&gates.small_heap_v7_classes, cls)) {
        return BACKEND_V7;
    }
    if (gate_is_on(&gates.mid_v3) && mask_has(&gates.mid_v3_classes, cls)) {
        return BACKEND_MID_V3;
    }
    return route_table.is_in_lanes[cls] ? BACKEND_MID_V3 : BACKEND_LEGACY;
}

void route_table_follow_gates(void)
{
    bool is_changed = false;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        enum backend_id backend = choose_backend((class_id)cls);
        is_changed = is_changed || route_backend((class_id)cls) != backend;
        atomic_store_explicit(&route_table.backend[cls], (uint8_t)backend, memory_order_relaxed);
    }
    if (is_changed) {
        // Release: pairs with the acquire load in route_version.
        atomic_fetch_add_explicit(&route_table.version, 1, memory_order_release);
    }
}
