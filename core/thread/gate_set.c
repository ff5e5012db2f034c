// SPDX-License-Identifier: MIT
#include "thread/gate_set.h"

#include "policy/gates.h"
#include "thread/process.h"

#include <errno.h>

// A LIVE gate is a number (a test in gates_test.c sees to it).  Set in a copy first: its readers, on
// slow paths of other threads, want one atomic store.
static bool set_live(enum gate_id id, const char *value)
{
    static struct gates copy;
    process_settings_lock();
    copy = gates;
    bool is_set = gate_set(&copy, id, value, NULL);
    if (is_set) {
        size_t offset = gate_table[id].offset;
        uint64_t *number = (uint64_t *)(void *)((char *)&gates + offset);
        gate_store_live(number, *(const uint64_t *)(const void *)((const char *)&copy + offset));
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
