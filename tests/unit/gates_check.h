// What the tests ask of the gates in force: they also run with each gate away from its default.
// SPDX-License-Identifier: MIT
#ifndef HAK_UNIT_GATES_CHECK_H
#define HAK_UNIT_GATES_CHECK_H

#include "policy/gates.h"
#include "route/route_table.h"

#include <stdbool.h>

// May a thread keep blocks of the class at hand?
static inline bool class_has_bin(class_id cls)
{
    return gates.bin_bytes != 0 && gates.heap_bin_bytes != 0 && route_has_bins(cls);
}

#endif
