// SPDX-License-Identifier: MIT
#include "backend/ultra.h"

#include "base/bit_runs.h"
#include "base/check.h"
#include "harden/harden_mode.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "region/page_heap.h"
#include "stats/budget.h"

#include <string.h>

static struct ultra_unit *unit_of(const void *block)
{
    return (struct ultra_unit *)(void *)span_of_unit((uintptr_t)block);
}

static struct ultra_unit *segment_of(struct ultra_unit *unit)
{
    return (struct ultra_unit *)((char *)unit -
                                 (size_t)unit->span.head_distance * UNIT_RECORD_BYTES);
}

static struct ultra_unit *unit_at(struct ultra_unit *segment, unsigned index)
{
    return (struct ultra_unit *)((char *)segment + (size_t)index * UNIT_RECORD_BYTES);
}

// Where the blocks of a unit begin.
static uintptr_t base_of(struct ultra_unit *unit)
{
    return segment_of(unit)->span.base + (uintptr_t)unit->span.head_distance * UNIT_BYTES;
}

static void link_unit(struct slab_owner *owner, struct ultra_unit *unit)
{
    struct ultra_unit **list = &owner->ultra_units[unit->cls];
    unit->prev = NULL;
    unit->next = *list;
    if (*list != NULL) {
        (*list)->prev = unit;
    }
    *list = unit;
}

static void unlink_unit(struct slab_owner *owner, struct ultra_unit *unit)
{
    if (unit->prev != NULL) {
        unit->prev->next = unit->next;
    } else {
        owner->ultra_units[unit->cls] = unit->next;
    }
    if (unit->next != NULL) {
        unit->next->prev = unit->prev;
    }
}

// Adds a unit without blocks out to the owner's sums, or takes it out.
static void count_unit(struct slab_owner *owner, const struct ultra_unit *unit, int sign)
{
    struct slab_class *class = &owner->classes[unit->cls];
    class->slab_count += (size_t)sign;
    class->block_count += (size_t)sign * unit->capacity;
    class->free_count += (size_t)sign * unit->capacity;
}

static void count_idle(struct slab_owner *owner, uint32_t units, int sign)
{
    owner->idle_bytes += (size_t)sign * (size_t)__builtin_popcount(units) * UNIT_BYTES;
}

// Gives a segment to the page heap if none of its units is cut, unless a purge is at work on it.
static void release_if_unused(struct slab_owner *owner, struct ultra_unit *segment)
{
    if (segment->pending != 0 || (segment->idle | segment->purged) != UINT32_MAX) {
        return;
    }
    count_idle(owner, segment->idle, -1);
    span_list_remove(&owner->segments, &segment->span);
    // The page heap takes all of it for dirty.
    budget_commit_anyway((size_t)__builtin_popcount(segment->purged) * UNIT_BYTES);
    page_heap_give(&segment->span);
}

// False: memory or the limit is reached.  The caller holds no lock.
static bool add_segment(struct slab_owner *owner)
{
    struct ultra_unit *segment = (struct ultra_unit *)(void *)page_heap_take_chunk();
    if (segment == NULL) {
        return false;
    }
    lock_take(owner->lock);
    for (unsigned i = 0; i < CHUNK_UNIT_COUNT; i++) {
        unit_at(segment, i)->span.backend = BACKEND_ULTRA;
        unit_at(segment, i)->cls = 0;
    }
    segment->idle = UINT32_MAX;
    segment->purged = 0;
    segment->pending = 0;
    count_idle(owner, segment->idle, 1);
    span_list_push(&owner->segments, &segment->span);
    lock_give(owner->lock);
    return true;
}

static void cut(struct slab_owner *owner, struct ultra_unit *unit, class_id cls)
{
    unit->cls = cls;
    unit->capacity = (uint16_t)(UNIT_BYTES / size_class_bytes(cls));
    unit->free_count = unit->capacity;
    hak_assert(unit->capacity <= 64 * ULTRA_WORDS);
    memset(unit->bits, 0, sizeof unit->bits);
    bits_set_first(unit->bits, unit->capacity);
    count_unit(owner, unit, 1);
    link_unit(owner, unit);
    page_map_set(base_of(unit), 1, owner->tag | cls);
}

// In a hardened process a unit's blocks must hold zeros; the trailers of its last class are still there.
static void wipe_unit(struct ultra_unit *unit)
{
    if (unlikely(harden_pads())) {
        memset((void *)base_of(unit), 0, UNIT_BYTES);
    }
}

// Cuts an idle unit of the owner's segments for the class; a resident one, if there is any.  False: there
// is none, or the limit forbids the use of a purged one.  Under the lock.
static bool cut_idle_unit(struct slab_owner *owner, class_id cls)
{
    struct ultra_unit *with_purged = NULL;
    for (struct span *span = owner->segments; span != NULL; span = span->next) {
        struct ultra_unit *segment = (struct ultra_unit *)(void *)span;
        if (segment->idle != 0) {
            uint32_t bit = segment->idle & (~segment->idle + 1);
            segment->idle &= ~bit;
            count_idle(owner, bit, -1);
            wipe_unit(unit_at(segment, (unsigned)__builtin_ctz(bit)));
            cut(owner, unit_at(segment, (unsigned)__builtin_ctz(bit)), cls);
            return true;
        }
        with_purged = segment->purged != 0 ? segment : with_purged;
    }
    if (with_purged == NULL || !budget_commit(UNIT_BYTES)) {
        return false;
    }
    uint32_t bit = with_purged->purged & (~with_purged->purged + 1);
    with_purged->purged &= ~bit;
    cut(owner, unit_at(with_purged, (unsigned)__builtin_ctz(bit)), cls);
    return true;
}

// Takes blocks of one unit in address order.
static size_t take_blocks(struct ultra_unit *unit, void **blocks, size_t want)
{
    size_t block_bytes = size_class_bytes(unit->cls);
    uintptr_t word_start = base_of(unit);
    size_t taken = 0;
    want = min_size(want, unit->free_count);
    for (size_t word = 0; taken < want; word++, word_start += 64 * block_bytes) {
        uint64_t left = unit->bits[word];
        for (; left != 0 && taken < want; left &= left - 1) {
            blocks[taken++] = (void *)(word_start + (size_t)__builtin_ctzll(left) * block_bytes);
        }
        unit->bits[word] = left;
    }
    unit->free_count = (uint16_t)(unit->free_count - taken);
    return taken;
}

static size_t take_from_units(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    struct ultra_unit *unit = NULL;
    while (taken < want && (unit = owner->ultra_units[cls]) != NULL) {
        taken += take_blocks(unit, blocks + taken, want - taken);
        if (unit->free_count == 0) {
            unlink_unit(owner, unit);
        }
    }
    owner->classes[cls].free_count -= taken;
    owner->taken_bytes += taken * size_class_bytes(cls);
    owner->refill_count++;
    return taken;
}

size_t ultra_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    do {
        lock_take(owner->lock);
        if (owner->ultra_units[cls] != NULL || cut_idle_unit(owner, cls)) {
            taken = take_from_units(owner, cls, blocks, want);
        }
        lock_give(owner->lock);
    } while (taken == 0 && add_segment(owner));
    return taken != 0 ? taken : backend_refill(BACKEND_LEGACY, owner, cls, blocks, want);
}

// Marks a block free.  Dies on one that is free already or that doesn't begin where a block does.
static void give_block(struct ultra_unit *unit, const void *block)
{
    size_t block_bytes = size_class_bytes(unit->cls);
    size_t distance = (uintptr_t)block & (UNIT_BYTES - 1);
    size_t index = size_class_index(unit->cls, distance);
    if (unlikely(index >= unit->capacity || index * block_bytes != distance)) {
        die_misuse("free", block, 0);
    }
    uint64_t bit = 1ull << (index % 64);
    if (unlikely((unit->bits[index / 64] & bit) != 0)) {
        die_misuse("double free", block, block_bytes);
    }
    unit->bits[index / 64] |= bit;
}

// The unit's last block is back.
static void make_idle(struct slab_owner *owner, struct ultra_unit *unit)
{
    struct ultra_unit *segment = segment_of(unit);
    unlink_unit(owner, unit);
    count_unit(owner, unit, -1);
    page_map_set(base_of(unit), 1, 0);
    segment->idle |= 1u << unit->span.head_distance;
    owner->idle_bytes += UNIT_BYTES;
    owner->emptied_bytes += UNIT_BYTES;
    release_if_unused(owner, segment);
}

// Gives back the leading blocks that lie in one unit; returns how many.
size_t ultra_flush(struct slab_owner *owner, void *const *blocks, size_t count)
{
    struct ultra_unit *unit = unit_of(blocks[0]);
    uintptr_t number = (uintptr_t)blocks[0] >> UNIT_SHIFT;
    size_t given = 0;
    if (unlikely(unit->cls == 0 || page_map_entry((uintptr_t)blocks[0]) == 0)) {
        backend_die_unknown(blocks[0]);
    }
    do {
        give_block(unit, blocks[given++]);
    } while (given < count && (uintptr_t)blocks[given] >> UNIT_SHIFT == number);
    if (unit->free_count == 0) {
        link_unit(owner, unit);
    }
    unit->free_count = (uint16_t)(unit->free_count + given);
    owner->classes[unit->cls].free_count += given;
    owner->taken_bytes -= given * size_class_bytes(unit->cls);
    if (unit->free_count == unit->capacity) {
        make_idle(owner, unit);
    }
    return given;
}

bool ultra_block_is_free(const void *block)
{
    const struct ultra_unit *unit = unit_of(block);
    size_t index = size_class_index(unit->cls, (uintptr_t)block & (UNIT_BYTES - 1));
    return (unit->bits[index / 64] >> (index % 64) & 1) != 0;
}

size_t ultra_former_bytes(const struct span *record, uintptr_t address)
{
    const struct ultra_unit *unit = (const struct ultra_unit *)(const void *)record;
    return size_class_bytes_at(unit->cls, address & (UNIT_BYTES - 1), unit->capacity);
}

// ---- Purge ----------------------------------------------------------------------------------------

static size_t find(struct slab_owner *owner)
{
    return owner->idle_bytes;
}

static void begin(struct slab_owner *owner)
{
    struct span *next = NULL;
    for (struct span *span = owner->segments; span != NULL; span = next) {
        struct ultra_unit *segment = (struct ultra_unit *)(void *)span;
        next = span->next;
        if (segment->idle != 0) {
            count_idle(owner, segment->idle, -1);
            segment->pending = segment->idle;
            segment->refused = 0;
            segment->idle = 0;
            span_list_remove(&owner->segments, span);
            span_list_push(&owner->purged_segments, span);
        }
    }
}

// A segment with pending units stays in its list, and nobody cuts those units.
static void purge(struct slab_owner *owner)
{
    for (struct span *span = owner->purged_segments; span != NULL; span = span->next) {
        struct ultra_unit *segment = (struct ultra_unit *)(void *)span;
        page_heap_avoid_huge(span);
        for (uint64_t left = segment->pending; left != 0; left &= ~bits_lowest_run(left)) {
            uint64_t run = bits_lowest_run(left);
            uintptr_t start = span->base + (uintptr_t)__builtin_ctzll(run) * UNIT_BYTES;
            if (os_purge((void *)start, (size_t)__builtin_popcountll(run) * UNIT_BYTES) != 0) {
                segment->refused |= (uint32_t)run;
            }
        }
    }
}

// Ends the purge of all segments; `is_done`: what wasn't refused is given back.
static size_t end(struct slab_owner *owner, bool is_done)
{
    size_t purged_bytes = 0;
    struct span *span = NULL;
    while ((span = owner->purged_segments) != NULL) {
        struct ultra_unit *segment = (struct ultra_unit *)(void *)span;
        uint32_t kept = is_done ? segment->refused : segment->pending;
        uint32_t given = segment->pending & ~kept;
        segment->purged |= given;
        segment->idle |= kept;
        segment->pending = 0;
        count_idle(owner, kept, 1);
        purged_bytes += (size_t)__builtin_popcount(given) * UNIT_BYTES;
        span_list_remove(&owner->purged_segments, span);
        span_list_push(&owner->segments, span);
        release_if_unused(owner, segment);
    }
    budget_uncommit(purged_bytes);
    return purged_bytes;
}

static size_t finish(struct slab_owner *owner)
{
    return end(owner, true);
}

static void forget(struct slab_owner *owner)
{
    (void)end(owner, false);
}

const struct backend_purge ultra_purge = {
    .find = find, .begin = begin, .purge = purge, .finish = finish, .forget = forget};
