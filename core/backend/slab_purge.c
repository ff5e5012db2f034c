// SPDX-License-Identifier: MIT
#include "backend/slab_purge.h"

#include "backend/slab_bits.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "stats/budget.h"

enum {
    GRANULES_MOST = 64,
    WORTHWHILE_BYTES = UNIT_BYTES / 8,  // least to purge in a slab
};

unsigned slab_granule_shift(const struct slab *slab)
{
    size_t slab_bytes = (size_t)slab->span.unit_count * UNIT_BYTES;
    size_t least_bytes = (slab_bytes + GRANULES_MOST - 1) / GRANULES_MOST;
    least_bytes = max_size(least_bytes, os_page_bytes());
    return log2_floor(least_bytes - 1) + 1;
}

bool slab_unpurge(struct slab *slab, void *const *blocks, size_t count)
{
    unsigned shift = slab_granule_shift(slab);
    size_t block_bytes = size_class_bytes(slab->cls);
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t start = (uintptr_t)blocks[i] - slab->span.base;
        used |= bits_between(start >> shift, (start + block_bytes - 1) >> shift);
    }
    used &= slab->purged;
    if (!budget_commit((size_t)__builtin_popcountll(used) << shift)) {
        return false;
    }
    slab->purged &= ~used;
    return true;
}

// Is every block free that touches bytes [start, start + bytes) of the slab?
static bool range_is_free(const struct slab *slab, size_t start, size_t bytes)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    size_t colour = slab->first - slab->span.base;
    size_t end = colour + slab->capacity * block_bytes;  // of the last block
    size_t low = max_size(start, colour);
    size_t high = min_size(start + bytes, end);
    if (low >= high) {
        return true;
    }
    return bits_are_all_set(slab->bitmap, size_class_index(slab->cls, low - colour),
                            size_class_index(slab->cls, high - 1 - colour));
}

// The granules that are free and not yet purged.
static uint64_t empty_granules(const struct slab *slab)
{
    size_t slab_bytes = (size_t)slab->span.unit_count * UNIT_BYTES;
    unsigned shift = slab_granule_shift(slab);
    uint64_t empty = 0;
    for (size_t granule = 0; granule < slab_bytes >> shift; granule++) {
        if ((slab->purged >> granule & 1) == 0 &&
            range_is_free(slab, granule << shift, (size_t)1 << shift)) {
            empty |= 1ull << granule;
        }
    }
    return empty;
}

// Looks at the first and the last granule that the block touches; those between are its own.
size_t slab_emptied_bytes(const struct slab *slab, const void *block)
{
    unsigned shift = slab_granule_shift(slab);
    size_t granule_bytes = (size_t)1 << shift;
    size_t start = (uintptr_t)block - slab->span.base;
    size_t first = start >> shift;
    size_t last = (start + size_class_bytes(slab->cls) - 1) >> shift;
    size_t empty_count = last > first ? last - first - 1 : 0;
    empty_count += range_is_free(slab, first << shift, granule_bytes);
    empty_count += last > first && range_is_free(slab, last << shift, granule_bytes);
    return empty_count << shift;
}

// Of the whole process there may be as much as of dirty spans; a heap with little of its own waits.
// Read without the lock: a wrong answer only moves the purge to another call.
__attribute__((no_sanitize_thread)) bool slab_purge_is_due(const struct slab_owner *owner)
{
    size_t slack_bytes = gates.dirty_limit + owner->taken_bytes / 16;
    return owner->emptied_bytes > gates.dirty_limit / 4 &&
           budget_read(&budget.emptied_bytes) > slack_bytes;
}

// Purges each run of pending granules; those that the system refuses are no longer pending.
static void purge_pending(struct slab *slab)
{
    unsigned shift = slab_granule_shift(slab);
    uint64_t granules = slab->pending;
    while (granules != 0) {
        unsigned start = (unsigned)__builtin_ctzll(granules);
        uint64_t after = ~(granules >> start);
        unsigned length = after != 0 ? (unsigned)__builtin_ctzll(after) : 64;
        uint64_t run = bits_between(start, start + length - 1);
        if (os_purge((void *)(slab->span.base + ((size_t)start << shift)),
                     (size_t)length << shift) != 0) {
            slab->pending &= ~run;
        }
        granules &= ~run;
    }
}

// Detaches the slabs of a list that have pages worth a system call.
static void detach_purgeable(struct slab *slab)
{
    struct slab *next = NULL;
    for (; slab != NULL; slab = next) {
        next = (struct slab *)(void *)slab->span.next;
        uint64_t granules = empty_granules(slab);
        if ((size_t)__builtin_popcountll(granules) << slab_granule_shift(slab) >=
            WORTHWHILE_BYTES) {
            slab->pending = granules;
            slab_detach(slab);
        }
    }
}

static size_t finish(struct slab *slab)
{
    size_t bytes = (size_t)__builtin_popcountll(slab->pending) << slab_granule_shift(slab);
    slab->purged |= slab->pending;
    slab->pending = 0;
    budget_uncommit(bytes);
    slab_reattach(slab);
    return bytes;
}

// While the lock is dropped nobody but this thread touches the detached list or a detached slab's
// links (is_purging keeps a second purge out), and flushes only set bits: pending granules stay free.
size_t slab_purge(struct slab_owner *owner)
{
    size_t purged_bytes = 0;
    lock_take(&owner->lock);
    if (owner->is_purging) {
        lock_give(&owner->lock);
        return 0;
    }
    owner->is_purging = true;
    budget_subtract(&budget.emptied_bytes, owner->emptied_bytes);
    owner->emptied_bytes = 0;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        detach_purgeable(owner->classes[cls].list[SLAB_MOSTLY_FREE]);
        detach_purgeable(owner->classes[cls].list[SLAB_HALF_USED]);
    }
    struct slab *detached = owner->detached;
    lock_give(&owner->lock);
    for (struct slab *slab = detached; slab != NULL;
         slab = (struct slab *)(void *)slab->span.next) {
        purge_pending(slab);
    }
    lock_take(&owner->lock);
    while (owner->detached != NULL) {
        purged_bytes += finish(owner->detached);
    }
    owner->is_purging = false;
    lock_give(&owner->lock);
    return purged_bytes;
}

// Some of the pending granules may be gone and some not: they count as resident.
void slab_purge_forget(struct slab_owner *owner)
{
    while (owner->detached != NULL) {
        owner->detached->pending = 0;
        slab_reattach(owner->detached);
    }
    owner->is_purging = false;
}
