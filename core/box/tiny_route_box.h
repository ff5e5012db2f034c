// Box: tiny_route - the route policy of a tiny class, looked up and counted.
// Boundary: front -> thread.  The gated front's door calls it in shape 0; shape 1 reads g_tiny_route.
// Gate: HAKMEM_ALLOC_GATE_SHAPE (fused).  1: nobody calls it.
// Cost: nothing in the fused front; a call a malloc in the gated one, which is what shape 1 saves.
// Record: docs/analysis/0009-gated-front.md
// SPDX-License-Identifier: MIT
#ifndef HAK_BOX_TINY_ROUTE_BOX_H
#define HAK_BOX_TINY_ROUTE_BOX_H

#include "thread/heap.h"

// By class; the memo's table, of which there is one, is the route table's.
static const uint8_t *const g_tiny_route = route_table.policy;

// The calling thread owns the heap.
enum route_policy tiny_route_get(struct heap *heap, class_id cls);

#endif
