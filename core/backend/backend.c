// SPDX-License-Identifier: MIT
#include "backend/backend.h"

#include "backend/large.h"
#include "backend/slab_purge.h"
#include "backend/ultra.h"
#include "backend/v7.h"
#include "os/os_process.h"
#include "stats/budget.h"

// Another thread that shares the owner may be quicker to take what was added.
static size_t refill_from_slabs(struct slab_owner *owner, class_id cls, void **blocks, size_t want,
                                enum backend_id backend)
{
    size_t taken = 0;
    do {
        lock_take(owner->lock);
        taken = slab_refill(owner, cls, blocks, want);
        lock_give(owner->lock);
    } while (taken == 0 && slab_add(owner, cls, backend));
    return taken;
}

static size_t refill_legacy(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    return refill_from_slabs(owner, cls, blocks, want, BACKEND_LEGACY);
}

static size_t refill_pool(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    return refill_from_slabs(owner, cls, blocks, want, BACKEND_POOL);
}

static size_t refill_mid_v3(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    return refill_from_slabs(owner, cls, blocks, want, BACKEND_MID_V3);
}

static const struct backend_purge slab_steps = {.find = slab_purge_find,
                                                .begin = slab_purge_begin,
                                                .purge = slab_purge_pending,
                                                .finish = slab_purge_finish,
                                                .forget = slab_purge_forget};

const struct backend backend_table[BACKEND_COUNT] = {
    [BACKEND_LEGACY] = {.name = "LEGACY",
                        .trade = "a thread's own slabs: fastest overall",
                        .refill = refill_legacy,
                        .flush = slab_flush,
                        .is_free = slab_block_is_free,
                        .former_bytes = slab_former_bytes,
                        .move = slab_move,
                        .purge = &slab_steps},
    [BACKEND_POOL] = {.name = "POOL",
                      .trade = "classes above 1 KiB, and slabs that all threads share for tiny "
                               "bands that are routed here: leanest, a lock on each call",
                      .refill = refill_pool,
                      .flush = slab_flush,
                      .is_free = slab_block_is_free,
                      .former_bytes = slab_former_bytes,
                      .move = slab_move},
    [BACKEND_MID_V3] = {.name = "MID_V3",
                        .trade = "slabs that all threads share, a lane for each processor: least "
                                 "memory with hundreds of threads",
                        .refill = refill_mid_v3,
                        .flush = slab_flush,
                        .is_free = slab_block_is_free,
                        .former_bytes = slab_former_bytes},
    [BACKEND_ULTRA] = {.name = "ULTRA",
                       .trade = "a thread's own segments of 2 MiB, each a huge page: fewer TLB "
                                "misses, more memory",
                       .refill = ultra_refill,
                       .flush = ultra_flush,
                       .is_free = ultra_block_is_free,
                       .former_bytes = ultra_former_bytes,
                       .purge = &ultra_purge},
    [BACKEND_V7] = {.name = "V7",
                    .trade =
                        "a thread's own slabs, whose pages have free lists of their own: what is "
                        "allocated together lies on few pages",
                    .refill = v7_refill,
                    .flush = v7_flush,
                    .is_free = v7_block_is_free,
                    .former_bytes = v7_former_bytes,
                    .move = v7_move,
                    .purge = &v7_purge},
};

void backend_flush(struct slab_owner *owner, void *const *blocks, size_t count)
{
    size_t emptied_before = owner->emptied_bytes;
    for (size_t i = 0; i < count;) {
        const struct span *span = span_of((uintptr_t)blocks[i]);
        hak_assert(span->backend < BACKEND_COUNT);
        i += backend_table[span->backend].flush(owner, blocks + i, count - i);
    }
    owner->flush_count++;
    if (owner->emptied_bytes != emptied_before) {
        budget_add(&budget.emptied_bytes, owner->emptied_bytes - emptied_before);
    }
}

static size_t former_bytes(const struct span *record, uintptr_t address)
{
    return record->backend == BACKEND_LARGE
               ? large_former_bytes(record, address)
               : backend_table[record->backend].former_bytes(record, address);
}

// Each unit of a segment has a record of its own, the units of a slab have the first one's.
size_t backend_bytes_at(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    const struct span *record = span_of(address);
    return former_bytes(record->backend == BACKEND_ULTRA ? span_of_unit(address) : record, address);
}

// The record of a span that was given back says what it was until its units are used anew.
void backend_die_unknown(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    size_t bytes = 0;
    if (page_map_covers(address) && page_map_zone(address) != (char *)&page_map &&
        page_map_entry(address) == 0) {
        bytes = former_bytes(span_of_unit(address), address);
        bytes = bytes != 0 ? bytes : former_bytes(span_of(address), address);
    }
    die_misuse(bytes != 0 ? "double free" : "free", pointer, bytes);
}
