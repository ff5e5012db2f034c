// SPDX-License-Identifier: MIT
#include "box/tiny_route_box.h"

// Not inlined, also not by -flto: the call is part of what shape 0 costs.
__attribute__((noinline)) enum route_policy tiny_route_get(struct heap *heap, class_id cls)
{
    front_count(&heap->gated.counters.policy_lookups);
    return route_of(cls);
}
