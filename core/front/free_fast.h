// free of a block of the thread's own heap: push it on its bin.
// Layer: front.  Needs: base, region, route, harden, thread.
// SPDX-License-Identifier: MIT
//
// One look at the page map and one XOR answer whose block it is and of which class: the heap's tag
// cancels out and the class remains.  NULL, foreign pointers, other owners' blocks and large blocks
// leave a number that is no class.
#ifndef HAK_FRONT_FREE_FAST_H
#define HAK_FRONT_FREE_FAST_H

#include "front/free_slow.h"
#include "thread/bin.h"

// `kind` is a constant, of interest to the slow path only.
static HAK_HOT void free_fast(void *pointer, enum block_kind kind)
{
    struct heap *heap = thread_heap;
    uintptr_t address = (uintptr_t)pointer;
    if (unlikely(!page_map_covers(address))) {
        free_slow(pointer, kind);
        return;
    }
    page_entry cls = page_map_entry(address) ^ heap->match_tag;
    if (unlikely(cls >= CLASS_COUNT)) {
        free_slow(pointer, kind);
        return;
    }
    // The second: freed twice in a row.
    if (unlikely(heap->bins.room[cls] == 0) || unlikely(pointer == heap->bins.head[cls])) {
        free_slow(pointer, kind);
        return;
    }
    bin_push(heap, cls, pointer);
}

#endif
