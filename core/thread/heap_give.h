// Giving a freed block where it belongs: to its bin, to its owner, to its slab.
// Layer: thread.  Needs: base, os, region, route, backend.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_HEAP_GIVE_H
#define HAK_THREAD_HEAP_GIVE_H

#include "backend/backend.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/lane.h"
#include "thread/remote_free.h"

enum {
    REMOTE_BYTES_MOST = 32 << 10,  // blocks of this size and more go straight to their owner
};

// A block of the heap itself, which is of kind HEAP_THREAD and the calling thread's.
static inline void heap_give_own(struct heap *heap, class_id cls, void *block)
{
    if (unlikely(heap->bins.head[cls] == block)) {
        die_misuse("double free", block, size_class_bytes(cls));
    }
    // The bin may have room: the call may have come only because the thread had no heap yet.
    if (heap->bins.room[cls] != 0) {
        bin_push(heap, cls, block);
    } else {
        bin_overflow(heap, cls, block);
    }
}

// Another heap's block, or none.  `heap` is the calling thread's or NULL.
static inline void heap_give_foreign(struct heap *heap, void *pointer, page_entry entry)
{
    unsigned cls = page_entry_class(entry);
    if (heap != NULL && heap_has_stocks(heap) && lane_keep(heap, pointer, entry)) {
        return;
    }
    if (cls != 0 && cls < CLASS_COUNT && size_class_bytes((class_id)cls) < REMOTE_BYTES_MOST &&
        heap != NULL && remote_free_append(heap, pointer, entry)) {
        return;
    }
    struct heap *owner = heap_registry_lookup(page_entry_tag(entry));
    if (unlikely(owner == NULL || cls == 0 || cls >= CLASS_COUNT)) {
        heap_give_unknown(pointer);
        return;
    }
    if (heap == NULL || heap->kind != HEAP_THREAD || owner->kind == HEAP_SHARED ||
        size_class_bytes((class_id)cls) >= REMOTE_BYTES_MOST) {
        heap_give_locked(pointer);
    } else {
        remote_free_send(heap, pointer, entry);
    }
}

#endif
