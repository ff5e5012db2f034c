// Page heap: spans of 64 KiB units out of arenas that grow with use.
// Layer: region.  Needs: base, os, policy, stats.
// SPDX-License-Identifier: MIT
//
// Free spans are dirty (resident, with old content) or clean (purged or never touched); neighbours
// of the same kind are merged.  Dirty ones are handed out first.  Arenas that are added to a big heap
// are backed by huge pages, as long as no part of one is given back.  Any thread may call.
#ifndef HAK_REGION_PAGE_HEAP_H
#define HAK_REGION_PAGE_HEAP_H

#include "region/span.h"

enum {
    SLAB_UNITS_MOST = 64,  // what page_heap_take hands out
    RUN_UNITS_MOST = 512,  // what page_heap_take_run hands out of fresh memory
};

// A used span; span->is_dirty says whether its pages may hold old content.  NULL when memory or
// the limit is reached.
struct span *page_heap_take(size_t unit_count);

// The same for a block that may grow: where there is room behind it, and at a multiple of `align_units`
// units, a power of two.  Longer than RUN_UNITS_MOST only where so much is free by chance.
struct span *page_heap_take_run(size_t unit_count, size_t align_units);

// Makes a used span longer where it is.  False: there is no room behind it, or the limit forbids it.
bool page_heap_extend(struct span *span, size_t unit_count);

// Makes a used span shorter; the rest becomes free and dirty.
void page_heap_shrink(struct span *span, size_t unit_count);
// A used span that is a whole chunk, backed by a huge page where the system has one to give, and
// resident.  NULL when memory or the limit is reached.  The caller holds no lock.
struct span *page_heap_take_chunk(void);

// Takes a span back; all of it becomes free and dirty.  Its entries in the page map are cleared.
void page_heap_give(struct span *span);

// The same for a span whose pages are gone and that isn't huge (any more).
void page_heap_give_clean(struct span *span);

// Gives dirty spans back to the system, longest first, until at most `keep_bytes` of them stay.
// Returns the bytes given back.  The caller holds no lock.
size_t page_heap_purge(size_t keep_bytes);

// Before a part of a used span is purged: from here on the system backs its chunks, and those around
// them, with small pages, or what was purged would come back with the rest.  The caller holds no lock.
void page_heap_avoid_huge(const struct span *span);

// Unmaps what is clean and long, or all that is left of a mapping, and of the rest the longest until
// `wanted_bytes` are gone: when address space is out.  Returns the bytes unmapped.  The caller holds no lock.
size_t page_heap_unmap_clean(size_t wanted_bytes);

// A bitmap as a unit's bitmap_store, that of a unit which was unmapped, or NULL.
uint64_t *page_heap_take_bitmap(void);

// Bytes in dirty free spans.
size_t page_heap_dirty_bytes(void);

// Around fork.
void page_heap_lock(void);
void page_heap_unlock(void);

// In the child: the thread that purged a span is gone.
void page_heap_after_fork_in_child(void);

#endif
