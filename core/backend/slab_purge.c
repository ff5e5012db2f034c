// SPDX-License-Identifier: MIT
#include "backend/slab_purge.h"

#include "base/bit_runs.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "region/page_heap.h"
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

static uint64_t granules_of(const struct slab *slab, const void *block)
{
    unsigned shift = slab_granule_shift(slab);
    size_t start = (uintptr_t)block - slab->span.base;
    return bits_between(start >> shift, (start + size_class_bytes(slab->cls) - 1) >> shift);
}

bool slab_block_is_resident(const struct slab *slab, const void *block)
{
    return slab->purged == 0 || (granules_of(slab, block) & slab->purged) == 0;
}

bool slab_unpurge(struct slab *slab, void *const *blocks, size_t count)
{
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used |= granules_of(slab, blocks[i]) & slab->purged;
    }
    size_t bytes = (size_t)__builtin_popcountll(used) << slab_granule_shift(slab);
    if (used != 0 && !budget_commit(bytes)) {
        return false;
    }
    slab->purged &= ~used;
    return true;
}

// The blocks first .. end - 1 of a slab.
struct block_range {
    size_t first;
    size_t end;
};

// Those that touch bytes [start, start + bytes) of the slab.
static inline struct block_range blocks_touching(const struct slab *slab, size_t start,
                                                 size_t bytes)
{
    size_t colour = slab->first - slab->span.base;
    size_t end = colour + slab->capacity * size_class_bytes(slab->cls);  // of the last block
    size_t low = max_size(start, colour);
    size_t high = min_size(start + bytes, end);
    if (low >= high) {
        return (struct block_range){0, 0};
    }
    return (struct block_range){size_class_index(slab->cls, low - colour),
                                size_class_index(slab->cls, high - 1 - colour) + 1};
}

// Is every block free that touches bytes [start, start + bytes) of the slab?
static bool range_is_free(const struct slab *slab, size_t start, size_t bytes)
{
    struct block_range range = blocks_touching(slab, start, bytes);
    return range.first == range.end || bits_are_all_set(slab->bitmap, range.first, range.end - 1);
}

// All blocks that touch a purged granule are free: those are the others of the free ones.
size_t slab_resident_free_count(const struct slab *slab)
{
    unsigned shift = slab_granule_shift(slab);
    size_t purged_count = 0;
    size_t counted_end = 0;  // a block may touch two runs
    for (uint64_t left = slab->purged; left != 0; left &= ~bits_lowest_run(left)) {
        uint64_t run = bits_lowest_run(left);
        size_t start = (size_t)__builtin_ctzll(run) << shift;
        size_t bytes = (size_t)__builtin_popcountll(run) << shift;
        struct block_range range = blocks_touching(slab, start, bytes);
        size_t first = max_size(range.first, counted_end);
        if (first < range.end) {
            purged_count += range.end - first;
            counted_end = range.end;
        }
    }
    hak_assert(purged_count <= slab->free_count);
    return slab->free_count - purged_count;
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

// Purges each run of pending granules; those that the system refuses are no longer pending.
static void purge_pending(struct slab *slab)
{
    unsigned shift = slab_granule_shift(slab);
    uint64_t granules = slab->pending;
    page_heap_avoid_huge(&slab->span);
    while (granules != 0) {
        uint64_t run = bits_lowest_run(granules);
        size_t start = (size_t)__builtin_ctzll(run) << shift;
        size_t bytes = (size_t)__builtin_popcountll(run) << shift;
        if (os_purge((void *)(slab->span.base + start), bytes) != 0) {
            slab->pending &= ~run;
        }
        granules &= ~run;
    }
}

// Notes in each slab of a list the pages worth a system call; returns their bytes.
static size_t find_purgeable(struct slab *slab)
{
    size_t found_bytes = 0;
    for (; slab != NULL; slab = (struct slab *)(void *)slab->span.next) {
        uint64_t granules = empty_granules(slab);
        size_t bytes = (size_t)__builtin_popcountll(granules) << slab_granule_shift(slab);
        slab->pending = bytes >= WORTHWHILE_BYTES ? granules : 0;
        found_bytes += bytes >= WORTHWHILE_BYTES ? bytes : 0;
    }
    return found_bytes;
}

static void detach_pending(struct slab *slab)
{
    struct slab *next = NULL;
    for (; slab != NULL; slab = next) {
        next = (struct slab *)(void *)slab->span.next;
        if (slab->pending != 0) {
            slab_detach(slab);
        }
    }
}

size_t slab_purge_find(struct slab_owner *owner)
{
    size_t found_bytes = 0;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        found_bytes += find_purgeable(owner->classes[cls].list[SLAB_MOSTLY_FREE]);
        found_bytes += find_purgeable(owner->classes[cls].list[SLAB_HALF_USED]);
    }
    return found_bytes;
}

void slab_purge_begin(struct slab_owner *owner)
{
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        detach_pending(owner->classes[cls].list[SLAB_MOSTLY_FREE]);
        detach_pending(owner->classes[cls].list[SLAB_HALF_USED]);
    }
}

// Nobody else touches the detached list or a detached slab's links, and flushes only set bits: pending
// granules stay free.
void slab_purge_pending(struct slab_owner *owner)
{
    struct slab *slab = owner->detached;
    for (; slab != NULL; slab = (struct slab *)(void *)slab->span.next) {
        purge_pending(slab);
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

size_t slab_purge_finish(struct slab_owner *owner)
{
    size_t purged_bytes = 0;
    while (owner->detached != NULL) {
        purged_bytes += finish(owner->detached);
    }
    return purged_bytes;
}

// Some of the pending granules may be gone and some not: they count as resident.
void slab_purge_forget(struct slab_owner *owner)
{
    while (owner->detached != NULL) {
        owner->detached->pending = 0;
        slab_reattach(owner->detached);
    }
}
