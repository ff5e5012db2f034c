// Large blocks: above 256 KiB, or aligned above 64 KiB.
// Layer: backend.  Needs: base, os, stats, region.
// SPDX-License-Identifier: MIT
//
// A large block of up to 32 MiB is a span of the page heap, where it can grow into free neighbours and
// where what it leaves serves blocks of any size; a longer one has a mapping of its own, which mremap
// grows.  The page-map entry of the unit in which it begins says LARGE_CLASS; at most one can begin in
// a unit.  The unit's record holds the exact base.
#ifndef HAK_BACKEND_LARGE_H
#define HAK_BACKEND_LARGE_H

#include "region/span.h"

struct large_request {
    size_t bytes;         // 1 or more
    size_t align_bytes;   // a power of two
    uint32_t owner_tag;   // LARGE_TAG, or the first-class heap's
    struct span **owned;  // the list of the first-class heap that it belongs to, or NULL
};

struct large_figures {
    size_t live_bytes;
    size_t live_count;
};

// A block, or NULL when memory or the limit is reached.  *is_zero: all its bytes are 0.
void *large_take(const struct large_request *request, bool *is_zero);

// Is `pointer`, whose entry is given, the start of a live block?
static inline bool large_is_live(page_entry entry, const void *pointer)
{
    return page_entry_class(entry) == LARGE_CLASS && page_entry_tag(entry) != FREED_TAG &&
           span_of_unit((uintptr_t)pointer)->base == (uintptr_t)pointer;
}

// Frees a block.  Dies when `pointer` is not the start of one.
void large_give(void *pointer);

// The usable bytes of a block; dies as large_give does.
size_t large_bytes(const void *pointer);

// Changes the size of a block: in place where there is room, else elsewhere.  NULL when memory or the
// limit is reached: then the block is as before.
void *large_resize(void *pointer, size_t bytes);

// Frees all blocks of a first-class heap's list.
void large_give_all(struct span **owned);

// Tries again to unmap what the system refused to unmap.  Returns the bytes given back.  The caller
// holds no lock.
size_t large_retry_unmap(void);

// As former_bytes in struct backend.
size_t large_former_bytes(const struct span *record, uintptr_t address);

void large_read_figures(struct large_figures *figures);

// Around fork.
void large_lock(void);
void large_unlock(void);

#endif
