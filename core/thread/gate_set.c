// SPDX-License-Identifier: MIT
#include "thread/gate_set.h"

#include "policy/gates.h"
#include "route/route_table.h"
#include "thread/process.h"

#include <errno.h>

// Stores a gate's value for its readers, on slow paths of other threads, in one atomic store.
static void store_live(enum gate_id id, const struct gates *values)
{
    const struct gate_info *gate = &gate_table[id];
    const char *value = (const char *)values + gate->offset;
    char *field = (char *)&gates + gate->offset;
    if (gate->type == GATE_TYPE_BOOL) {
        __atomic_store_n((bool *)field, *(const bool *)value, __ATOMIC_RELAXED);
    } else {
        gate_store_live((uint64_t *)(void *)field, *(const uint64_t *)(const void *)value);
    }
}

// A LIVE gate is a number or a bool.  Set in a copy first, as a bad value must change nothing.
static bool set_live(enum gate_id id, const char *value)
{
    static struct gates copy;
    process_settings_lock();
    copy = gates;
    bool is_set = gate_set(&copy, id, value, NULL);
    if (is_set) {
        store_live(id, &copy);
        // A static route keeps the routes as they were at start.
        if (gates.tiny_static_route != FRONT_CHOICE_1) {
            route_table_follow_gates();
        }
    }
    process_settings_unlock();
    return is_set;
}

int gate_set_live(const char *gate, const char *value)
{
    int id = gate_find(gate);
    if (id < 0) {
        return ENOENT;
    }
    if (gate_table[id].when != GATE_LIVE) {
        return EPERM;
    }
    if (!set_live((enum gate_id)id, value)) {
        return EINVAL;
    }
    if (id == GATE_ID_limit) {
        process_apply_limit();
    }
    return 0;
}
