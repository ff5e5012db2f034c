// Refill: what a heap does when the bin of a class is empty.
// Layer: thread.  Needs: base, route, backend.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_HEAP_REFILL_H
#define HAK_THREAD_HEAP_REFILL_H

#include "thread/heap.h"

// A block of the class; its bin is stocked on the way.  In this order: blocks set aside, blocks
// that others have sent back, the heap's slabs, a parked heap's slab, a fresh slab.  NULL when
// memory or the limit is reached.  The calling thread owns the heap, of kind HEAP_THREAD.
void *heap_refill(struct heap *heap, class_id cls);

#endif
