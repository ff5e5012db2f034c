// Registry: every heap by its tag; heaps of ended threads, parked for the next thread.
// Layer: thread.  Needs: base, os, region.
// SPDX-License-Identifier: MIT
//
// Heaps are never unmapped, so a tag that was read from the page map stays good to look up.  Lock
// order: settings, process, registry, one heap, large blocks, page heap, batches, page map, records.
#ifndef HAK_THREAD_HEAP_REGISTRY_H
#define HAK_THREAD_HEAP_REGISTRY_H

#include "thread/heap.h"

// The heap with that tag, or NULL when it was never issued.
struct heap *heap_registry_lookup(uint32_t owner_tag);

// The number of tags issued; tags run from 1 to it.
uint32_t heap_registry_count(void);

// A parked heap for this thread, or a fresh one, or NULL when memory is out.
struct heap *heap_registry_adopt(void);

// The heap's thread is gone; its bins and outboxes are empty.
void heap_registry_park(struct heap *heap);

// A heap of kind HEAP_SHARED; an unused one again, if there is one.
struct heap *heap_registry_take_shared(void);
void heap_registry_give_shared(struct heap *heap);

// The lane of a processor, made on the first call; NULL when memory is out.
struct heap *heap_registry_lane(unsigned cpu_index);

enum {
    LANE_COUNT_MOST = 64
};

// The lane of that index below LANE_COUNT_MOST, if it was made.
struct heap *heap_registry_find_lane(unsigned index);

// Moves a partly used slab of the class from a parked heap to `heap`.  False: none was found.
bool heap_registry_steal(struct heap *heap, class_id cls);

uint32_t heap_registry_parked_count(void);

// Around fork: every lock of the allocator, in order.  In the child all heaps but `mine` are parked.
void heap_registry_lock_all(void);
void heap_registry_unlock_all(void);
void heap_registry_after_fork_in_child(struct heap *mine);

#endif
