// Slab: a span cut into equal blocks of one class; all bookkeeping is out of band.
// Layer: backend.  Needs: base, os, stats, region, route.
// SPDX-License-Identifier: MIT
#ifndef HAK_BACKEND_SLAB_H
#define HAK_BACKEND_SLAB_H

#include "os/os_thread.h"
#include "region/span.h"
#include "route/route_table.h"

// The lists of an owner's class, in the order in which refill looks at them: the fullest slabs
// first, which packs live blocks together and empties whole slabs.
enum slab_list {
    SLAB_MOSTLY_USED,  // at most a quarter is free
    SLAB_HALF_USED,    // at most half
    SLAB_MOSTLY_FREE,
    SLAB_LIST_COUNT_PARTIAL,
    SLAB_FULL = SLAB_LIST_COUNT_PARTIAL,  // nothing is free: refill doesn't look here
    SLAB_LIST_COUNT,
    SLAB_DETACHED = SLAB_LIST_COUNT,  // being purged, or on its way to another owner
};

enum {
    SLAB_INLINE_WORDS = 4
};

// The record of a slab's first unit.
//
// Invariant: set bits == free_count, and set bits + blocks in bins, outboxes and mailboxes + live
// blocks == capacity.  The owner's lock guards everything here.
struct slab {
    struct span span;
    uint64_t *bitmap;  // 1 = free; inline_bits, or the span's bitmap_store
    uintptr_t first;   // the first block: the base plus the slab's colour
    uint16_t capacity;
    uint16_t free_count;
    uint16_t search_word;  // no bit is set in the words before this one
    class_id cls;
    uint8_t list;      // enum slab_list: where it is linked
    uint64_t purged;   // one bit a granule: given back to the system, reads as zero
    uint64_t pending;  // while detached: granules that a purge is about to give back
    struct slab_owner *owner;
    uint64_t inline_bits[SLAB_INLINE_WORDS];
};

_Static_assert(sizeof(struct slab) <= UNIT_RECORD_BYTES, "a slab is the record of a unit");

struct slab_class {
    struct slab *list[SLAB_LIST_COUNT];
    size_t slab_count;
    size_t block_count;  // the sum of the capacities
    size_t free_count;   // the sum of the free counts
};

// What a heap has of slabs.  Guarded by *lock, the heap's slow-path lock.  It doesn't lie in here: a fork takes
// and gives every heap's, and each page that is written then is copied.
struct slab_owner {
    struct lock *lock;
    page_entry tag;  // owner tag << 8
    uint32_t colour;
    struct slab_class classes[CLASS_COUNT];
    struct slab *detached;  // out of refill's sight while their pages are purged
    struct span *segments;  // of ULTRA, and those that are being purged
    struct span *purged_segments;
    struct ultra_unit *ultra_units[TINY_CLASS_COUNT];  // with free blocks
    size_t idle_bytes;                           // resident units of segments, cut for no class
    struct v7_slab *v7_slabs[TINY_CLASS_COUNT];  // of V7, with free blocks
    struct v7_slab *v7_detached;
    void *
        v7_stores[14];  // spare arrays of links by log2 of their bytes, linked by their first words
    bool is_purging;
    size_t emptied_bytes;  // pages that became empty inside slabs since the last purge, at most
    // In blocks that are out of the slabs.  The sums of the classes would tell, but they lie in as many
    // cache lines, and each flush asks whether a purge is due.
    size_t taken_bytes;
    size_t refill_count;
    size_t flush_count;
};

static inline struct slab *slab_of(const void *block)
{
    return (struct slab *)(void *)span_of((uintptr_t)block);
}

// Has the owner no free block of the class?  Read without the lock: a guess.
__attribute__((no_sanitize_thread)) static inline bool slab_is_out(const struct slab_owner *owner,
                                                                   class_id cls)
{
    return owner->classes[cls].free_count == 0;
}

// Takes up to `want` blocks in address order.  Fewer, down to 0, when the owner's slabs of the
// class have no more; then the rest of blocks[] is not to be looked at.  Under the lock.
size_t slab_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want);

// Adds a fresh slab of the class.  False when memory or the limit is reached.  The caller holds no
// lock: the system may be asked for memory.
bool slab_add(struct slab_owner *owner, class_id cls, enum backend_id backend);

// Takes back the leading blocks that lie in slabs of the same backend as the first one, all of `owner`;
// returns how many.  A block that is free already, or that is no block, ends the process.  Slabs that
// become empty go to the page heap.  Under the lock.
size_t slab_flush(struct slab_owner *owner, void *const *blocks, size_t count);

// As move in struct backend.
bool slab_move(struct slab_owner *from, struct slab_owner *to, class_id cls);

// For slab_purge: out of the lists, so that nothing is taken from the slab while the lock is
// dropped; and back.  Under the lock.
void slab_detach(struct slab *slab);
void slab_reattach(struct slab *slab);

// As former_bytes in struct backend.
size_t slab_former_bytes(const struct span *record, uintptr_t address);

// Is the block, which lies in a slab, free by the slab's bitmap?  Under the lock.
bool slab_block_is_free(const void *block);

// Gives every slab to the page heap, live blocks or not.
void slab_release_all(struct slab_owner *owner);

#endif
