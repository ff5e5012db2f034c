// Where the pages of a large block come from that is no span of the page heap.
// Layer: backend.  Needs: base, os, stats, region.
// SPDX-License-Identifier: MIT
#ifndef HAK_BACKEND_LARGE_PLACE_H
#define HAK_BACKEND_LARGE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum large_place {
    PLACE_SPAN,     // of the page heap
    PLACE_MAPPING,  // of its own
    PLACE_FENCED,   // the same between guards; see fence.h
    PLACE_SLOT,     // of fence.h
};

// Whole pages, committed and mapped.
struct large_pages {
    char *start;
    size_t bytes;
    enum large_place place;
};

// Fills in `start` for the bytes and the place that *pages names.  The page map covers it.  False: memory,
// the limit or the bound on fences is reached.  The caller holds no lock, here and below.
bool large_pages_take(struct large_pages *pages, size_t align_bytes);

// Changes the length; the start may move, and fenced pages may lose their guards.  False: as before.  Pages
// that are added are committed already.
bool large_pages_resize(struct large_pages *pages, size_t bytes);

// Gives the pages back, of which so much is committed.  Their unit may have a new block at once, so the
// sums come first.  False: the system refused to unmap them; *held_bytes are those that it didn't even
// purge, and that count as committed still.
bool large_pages_give(const struct large_pages *pages, size_t committed_bytes, size_t *held_bytes);

#endif
