// Allocation from a first-class heap.
// Layer: front.  Needs: base, backend, thread.
// SPDX-License-Identifier: MIT
#ifndef HAK_FRONT_HEAP_API_H
#define HAK_FRONT_HEAP_API_H

#include "thread/heap.h"

// At a multiple of `align_bytes`, a power of two.  NULL with errno ENOMEM.
void *heap_take(struct heap *heap, size_t align_bytes, size_t bytes);

// The same, zeroed.
void *heap_take_zeroed(struct heap *heap, size_t count, size_t bytes);

#endif
