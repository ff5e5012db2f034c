// Large blocks: above 256 KiB, or aligned above 64 KiB; each a run of OS pages of its own.
// Layer: backend.  Needs: base, os, stats, region.
// SPDX-License-Identifier: MIT
//
// The page-map entry of the unit in which a large block begins says LARGE_CLASS; at most one can
// begin in a unit.  The unit's record holds the exact base.  Freed blocks are cached, within the
// bound on dirty memory, for the next request of about their size.
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
    size_t cached_bytes;  // dirty and in no block
};

// A block, or NULL when memory or the limit is reached.  *is_zero: all its bytes are 0.
void *large_take(const struct large_request *request, bool *is_zero);

// Frees a block.  Dies when `pointer` is not the start of one.
void large_give(void *pointer);

// The usable bytes of a block; dies as large_give does.
size_t large_bytes(const void *pointer);

// Changes the size of a block, moving its pages if it must; a block that grows a good deal is copied
// into a cached run instead, if one fits.  NULL when the system refuses: then the block is as before.
void *large_resize(void *pointer, size_t bytes);

// Frees all blocks of a first-class heap's list.
void large_give_all(struct span **owned);

// Unmaps cached blocks until at most `keep_bytes` of them stay.  Returns the bytes given back.  The
// caller holds no lock.
size_t large_purge(size_t keep_bytes);

// Unmaps the runs that were purged but stayed mapped to bound the mappings: when address space is out.
// Returns the bytes unmapped.  The caller holds no lock.
size_t large_unmap_clean(void);

void large_read_figures(struct large_figures *figures);

// Around fork.
void large_lock(void);
void large_unlock(void);

// In the child: the thread that purged a run is gone.
void large_after_fork_in_child(void);

#endif
