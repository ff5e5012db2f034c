// The empty pages of V7's slabs.
// SPDX-License-Identifier: MIT
#include "backend/v7.h"
#include "base/bit_runs.h"
#include "os/os_memory.h"
#include "region/page_heap.h"
#include "stats/budget.h"

enum {
    WORTHWHILE_BYTES = UNIT_BYTES / 8,  // least to purge in a slab
};

static size_t bytes_of(uint16_t pages)
{
    return (size_t)__builtin_popcount(pages) << v7_page_shift();
}

static size_t find(struct slab_owner *owner)
{
    size_t found_bytes = 0;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        for (struct v7_slab *slab = owner->v7_slabs[cls]; slab != NULL;
             slab = (struct v7_slab *)(void *)slab->span.next) {
            uint16_t pages = v7_empty_pages(slab);
            slab->pending = bytes_of(pages) >= WORTHWHILE_BYTES ? pages : 0;
            found_bytes += bytes_of(slab->pending);
        }
    }
    return found_bytes;
}

static void begin(struct slab_owner *owner)
{
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        struct v7_slab *next = NULL;
        for (struct v7_slab *slab = owner->v7_slabs[cls]; slab != NULL; slab = next) {
            next = (struct v7_slab *)(void *)slab->span.next;
            if (slab->pending != 0) {
                v7_detach(owner, slab);
            }
        }
    }
}

// Flushes only add to lists meanwhile, and nothing is taken: pending pages stay empty.
static void purge(struct slab_owner *owner)
{
    for (struct v7_slab *slab = owner->v7_detached; slab != NULL;
         slab = (struct v7_slab *)(void *)slab->span.next) {
        page_heap_avoid_huge(&slab->span);
        for (uint64_t left = slab->pending; left != 0; left &= ~bits_lowest_run(left)) {
            uint64_t run = bits_lowest_run(left);
            uintptr_t start =
                slab->span.base + ((uintptr_t)__builtin_ctzll(run) << v7_page_shift());
            if (os_purge((void *)start, bytes_of((uint16_t)run)) != 0) {
                slab->pending &= (uint16_t)~run;
            }
        }
    }
}

static size_t finish(struct slab_owner *owner)
{
    size_t purged_bytes = 0;
    struct v7_slab *slab = NULL;
    while ((slab = owner->v7_detached) != NULL) {
        size_t bytes = bytes_of(slab->pending);
        slab->purged |= slab->pending;
        slab->pending = 0;
        budget_uncommit(bytes);
        purged_bytes += bytes;
        v7_reattach(owner, slab);
    }
    return purged_bytes;
}

static void forget(struct slab_owner *owner)
{
    struct v7_slab *slab = NULL;
    while ((slab = owner->v7_detached) != NULL) {
        slab->pending = 0;
        v7_reattach(owner, slab);
    }
}

const struct backend_purge v7_purge = {
    .find = find, .begin = begin, .purge = purge, .finish = finish, .forget = forget};
