// V7: slabs whose pages have free lists of their own, for spatial locality.
// Layer: backend.  Needs: base, os, stats, region, route.
// SPDX-License-Identifier: MIT
//
// A slab is one unit.  Blocks are taken from one page of it until that page has no more, then from the
// page that has the most: what is allocated one after the other lies on few pages, also in a heap full of
// holes, where slabs hand out one hole after the other in the order of their addresses.  The price is
// that fuller pages are left alone.  Links are numbers out of band, so that neither a flush nor a refill
// touches a free block; a link also says whether its block is out.
#ifndef HAK_BACKEND_V7_H
#define HAK_BACKEND_V7_H

#include "backend/backend.h"

enum {
    V7_PAGE_COUNT_MOST = 16,
};

enum v7_list {
    V7_LISTED,    // has free blocks: refill finds it
    V7_FULL,      // in no list
    V7_DETACHED,  // being purged, or on its way to another owner
};

struct v7_page {
    uint16_t head;  // the first free block that begins in the page
    uint16_t free_count;
};

// The record of a slab's unit.
//
// Invariant: the list of each page is free_count blocks long, in the order in which they are taken;
// blocks on no list have the link of a taken one.  The owner's lock guards everything here.
struct v7_slab {
    struct span span;
    uint16_t *links;  // [capacity]
    uint16_t capacity;
    uint16_t free_count;
    class_id cls;
    uint8_t list;         // enum v7_list
    uint8_t page_number;  // that blocks are taken from
    uint16_t purged;      // one bit a page: given back, and every block that touches it is free
    uint16_t pending;     // while detached: about to be
    struct v7_page pages[V7_PAGE_COUNT_MOST];
};

_Static_assert(sizeof(struct v7_slab) <= UNIT_RECORD_BYTES, "the record of a unit");

// As in struct backend.
size_t v7_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want);
size_t v7_flush(struct slab_owner *owner, void *const *blocks, size_t count);
bool v7_block_is_free(const void *block);
size_t v7_former_bytes(const struct span *record, uintptr_t address);
bool v7_move(struct slab_owner *from, struct slab_owner *to, class_id cls);

// For v7_purge.c: the pages that every block of is free, those that are purged left out; in and out of
// refill's sight.  Under the lock.
unsigned v7_page_shift(void);
uint16_t v7_empty_pages(const struct v7_slab *slab);
void v7_detach(struct slab_owner *owner, struct v7_slab *slab);
void v7_reattach(struct slab_owner *owner, struct v7_slab *slab);

extern const struct backend_purge v7_purge;

#endif
