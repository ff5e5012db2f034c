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
    SPAN_UNITS_MOST = 64
};  // the longest span that page_heap_take hands out

// A used span; span->is_dirty says whether its pages may hold old content.  NULL when memory or
// the limit is reached.
struct span *page_heap_take(size_t unit_count);

// A used span that is a whole chunk, backed by a huge page where the system has one to give, and
// resident.  NULL when memory or the limit is reached.  The caller holds no lock.
struct span *page_heap_take_chunk(void);

// Takes a span back; all of it becomes free and dirty.  Its entries in the page map are cleared.
void page_heap_give(struct span *span);

// Gives dirty spans back to the system, longest first, until at most `keep_bytes` of them stay.
// Returns the bytes given back.  The caller holds no lock.
size_t page_heap_purge(size_t keep_bytes);

// Before a part of a used span is purged: from here on the system backs its chunks, and those around
// them, with small pages, or what was purged would come back with the rest.  The caller holds no lock.
void page_heap_avoid_huge(const struct span *span);

// Bytes in dirty free spans.
size_t page_heap_dirty_bytes(void);

// Around fork.
void page_heap_lock(void);
void page_heap_unlock(void);

// In the child: the thread that purged a span is gone.
void page_heap_after_fork_in_child(void);

#endif
