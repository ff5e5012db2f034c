// ULTRA: segments of 2 MiB, each a thread's own and backed by a huge page, for blocks of the big tiny
// bands.
// Layer: backend.  Needs: base, os, stats, region, route.
// SPDX-License-Identifier: MIT
//
// A segment is a chunk of 32 units; each unit is cut for one class when a thread needs blocks of it,
// and is idle again when its last block is back.  So all hot classes of a thread lie in one huge page,
// and the price is at most one partly used segment a thread.  Blocks carry their heap's tag and use its
// bins.  Where 2 MiB can't be had, the class is served from slabs.
#ifndef HAK_BACKEND_ULTRA_H
#define HAK_BACKEND_ULTRA_H

#include "backend/backend.h"

enum {
    ULTRA_BYTES_LEAST = 272,  // smallest block: the smallest of band C6
    ULTRA_WORDS = (UNIT_BYTES / ULTRA_BYTES_LEAST + 63) / 64,
};

// The record of each unit of a segment.
//
// Invariant of a cut unit: set bits == free_count, and set bits + blocks in bins, outboxes and mailboxes
// + live blocks == capacity; it is in the owner's list of its class exactly when free_count != 0.
// Of a segment: each unit is either cut or in exactly one of idle, purged and pending; idle and cut ones
// are committed.  The owner's lock guards everything here.
struct ultra_unit {
    struct span span;  // the first unit's: the segment
    struct ultra_unit *next;
    struct ultra_unit *prev;
    uint64_t bits[ULTRA_WORDS];  // 1 = free
    uint16_t capacity;
    uint16_t free_count;
    class_id cls;  // 0: not cut
    // Only in the first unit's record, a bit for each unit.
    uint32_t idle;
    uint32_t purged;   // idle, and given back to the system
    uint32_t pending;  // idle, and about to be
    uint32_t refused;  // of those pending: the system wouldn't take them
};

_Static_assert(sizeof(struct ultra_unit) <= UNIT_RECORD_BYTES, "the record of a unit");

// As in struct backend.
size_t ultra_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want);
size_t ultra_flush(struct slab_owner *owner, void *const *blocks, size_t count);
bool ultra_block_is_free(const void *block);
size_t ultra_former_bytes(const struct span *record, uintptr_t address);

extern const struct backend_purge ultra_purge;

#endif
