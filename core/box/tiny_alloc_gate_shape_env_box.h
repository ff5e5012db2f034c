// Box: tiny_alloc_gate_shape_env - which shape the gated front's door has.
// Boundary: front -> policy.  The door asks here; the environment was read at start.
// Gate: HAKMEM_ALLOC_GATE_SHAPE (fused).  0 and fused: the route policy is looked up on every malloc;
//   1: LEGACY first.
// Cost: nothing in the fused front; one load in the gated one.
// Record: docs/analysis/0009-gated-front.md
// SPDX-License-Identifier: MIT
#ifndef HAK_BOX_TINY_ALLOC_GATE_SHAPE_ENV_BOX_H
#define HAK_BOX_TINY_ALLOC_GATE_SHAPE_ENV_BOX_H

#include "policy/gates.h"

static inline bool alloc_gate_shape_enabled(void)
{
    return gates.alloc_gate_shape == FRONT_CHOICE_1;
}

#endif
