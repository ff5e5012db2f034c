// SPDX-License-Identifier: MIT
#include "region/page_heap.h"

#include "base/bits.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "stats/budget.h"

#include <errno.h>

enum {
    EXACT_BIN_COUNT = 32,  // spans of 1 to 32 units have a bin for each length
    BIN_COUNT = EXACT_BIN_COUNT + 4 * 10,
    ARENA_BYTES_FIRST = 4 << 20,
    ARENA_BYTES_MOST = 64 << 20,
    ARENA_ALIGN_BYTES = 2 << 20,  // a huge page
};

// Free spans of one kind by length, and a bit for each bin that has any.
struct span_bins {
    struct span *list[BIN_COUNT];
    uint64_t occupied[2];
};

// Guarded by page_heap.lock, except dirty_bytes, which others read.
static struct {
    struct lock lock;
    struct lock growth_lock;   // taken before `lock`
    struct span_bins bins[2];  // [is_dirty]
    size_t next_arena_bytes;
    struct span *under_way;  // out of the bins while they are purged
    _Atomic size_t dirty_bytes;
} page_heap;

// The bin that holds spans of this length; from bin + 1 on every span is longer.
static size_t bin_of(size_t unit_count)
{
    if (unit_count <= EXACT_BIN_COUNT) {
        return unit_count - 1;
    }
    unsigned shift = log2_floor(unit_count);
    size_t bin = EXACT_BIN_COUNT + (shift - 5) * 4 + ((unit_count >> (shift - 2)) & 3);
    return min_size(bin, BIN_COUNT - 1);
}

static struct span *last_unit_of(struct span *span)
{
    return (struct span *)((char *)span + (span->unit_count - 1) * (size_t)UNIT_RECORD_BYTES);
}

static void bins_remove(struct span *span)
{
    struct span_bins *bins = &page_heap.bins[span->is_dirty];
    size_t bin = bin_of(span->unit_count);
    span_list_remove(&bins->list[bin], span);
    if (bins->list[bin] == NULL) {
        bins->occupied[bin / 64] &= ~(1ull << (bin % 64));
    }
}

static void bins_insert(struct span *span)
{
    struct span_bins *bins = &page_heap.bins[span->is_dirty];
    size_t bin = bin_of(span->unit_count);
    span_list_push(&bins->list[bin], span);
    bins->occupied[bin / 64] |= 1ull << (bin % 64);
}

static void set_free(struct span *span, size_t unit_count, bool is_dirty)
{
    span->unit_count = (uint16_t)unit_count;
    span->head_distance = 0;
    span->state = SPAN_FREE;
    span->is_dirty = is_dirty;
    struct span *last = last_unit_of(span);
    last->unit_count = (uint16_t)unit_count;
    last->head_distance = (uint16_t)(unit_count - 1);
    last->state = SPAN_FREE;
    last->is_dirty = is_dirty;
}

// The free span of the same kind that ends just before `span`, or NULL.  Spans of different zones
// are never merged: their records are not neighbours.
static struct span *mergeable_before(const struct span *span, bool is_dirty)
{
    if (page_map_unit_index(span->base) == 0) {
        return NULL;
    }
    struct span *last = span_of_unit(span->base - UNIT_BYTES);
    if (last->state != SPAN_FREE || last->is_dirty != is_dirty) {
        return NULL;
    }
    return (struct span *)((char *)last - (size_t)last->head_distance * UNIT_RECORD_BYTES);
}

static struct span *mergeable_after(const struct span *span, bool is_dirty)
{
    uintptr_t end = span->base + (uintptr_t)span->unit_count * UNIT_BYTES;
    if (page_map_unit_index(end) == 0) {
        return NULL;
    }
    struct span *next = span_of_unit(end);
    return (next->state == SPAN_FREE && next->is_dirty == is_dirty) ? next : NULL;
}

// Makes `span` free and merges it with its neighbours.
static void insert_free(struct span *span, bool is_dirty)
{
    size_t unit_count = span->unit_count;
    struct span *after = mergeable_after(span, is_dirty);
    if (after != NULL) {
        bins_remove(after);
        unit_count += after->unit_count;
        after->state = SPAN_NONE;
    }
    struct span *before = mergeable_before(span, is_dirty);
    if (before != NULL) {
        bins_remove(before);
        last_unit_of(before)->state = SPAN_NONE;
        unit_count += before->unit_count;
        span->state = SPAN_NONE;
        span = before;
    }
    set_free(span, unit_count, is_dirty);
    bins_insert(span);
}

// The shortest bin of `bins` from `bin` on that has a span, or BIN_COUNT.
static size_t next_occupied(const struct span_bins *bins, size_t bin)
{
    for (size_t word = bin / 64; word < 2; word++) {
        uint64_t bits = bins->occupied[word];
        if (word == bin / 64) {
            bits &= ~0ull << (bin % 64);
        }
        if (bits != 0) {
            return word * 64 + (size_t)__builtin_ctzll(bits);
        }
    }
    return BIN_COUNT;
}

static struct span *find_free(const struct span_bins *bins, size_t unit_count)
{
    for (size_t bin = next_occupied(bins, bin_of(unit_count)); bin < BIN_COUNT;
         bin = next_occupied(bins, bin + 1)) {
        for (struct span *span = bins->list[bin]; span != NULL; span = span->next) {
            if (span->unit_count >= unit_count) {
                return span;
            }
        }
    }
    return NULL;
}

static void insert_arena_part(uintptr_t base, size_t bytes)
{
    struct span *span = span_of_unit(base);
    span->base = base;
    span->unit_count = (uint16_t)(bytes / UNIT_BYTES);
    insert_free(span, false);
}

static void insert_arena(uintptr_t base, size_t bytes)
{
    uintptr_t zone_end = align_up(base + 1, (uintptr_t)1 << ZONE_SHIFT);
    size_t first_bytes = min_size(bytes, zone_end - base);
    lock_take(&page_heap.lock);
    page_map_set(base, bytes / UNIT_BYTES, 0);  // a freed large block may have been here
    insert_arena_part(base, first_bytes);
    if (first_bytes < bytes) {
        insert_arena_part(zone_end, bytes - first_bytes);
    }
    page_heap.next_arena_bytes = min_size(2 * bytes, ARENA_BYTES_MOST);
    lock_give(&page_heap.lock);
}

// Maps an arena that the page map covers, or returns NULL.
static char *map_arena(size_t bytes)
{
    char *arena = os_map(bytes, bytes >= ARENA_BYTES_FIRST ? ARENA_ALIGN_BYTES : UNIT_BYTES);
    if (arena != NULL && !page_map_extend((uintptr_t)arena, bytes)) {
        (void)os_unmap(arena, bytes);
        arena = NULL;
    }
    return arena;
}

// Adds an arena of at least `unit_count` units; smaller ones are tried where the address space is
// short, for the arena or for the records of a GiB that it is the first in.  Under the growth lock.
static bool add_arena(size_t unit_count, size_t wanted_bytes)
{
    size_t least_bytes = unit_count * UNIT_BYTES;
    size_t bytes = max_size(max_size(wanted_bytes, ARENA_BYTES_FIRST), least_bytes);
    char *arena = map_arena(bytes);
    while (arena == NULL && bytes > least_bytes) {
        bytes = max_size(align_down(bytes / 4, UNIT_BYTES), least_bytes);
        arena = map_arena(bytes);
    }
    if (arena == NULL) {
        return false;
    }
    os_avoid_huge_pages(arena, bytes);
    budget_add(&budget.mapped_bytes, bytes);
    insert_arena((uintptr_t)arena, bytes);
    return true;
}

// Cuts the first `unit_count` units off a free span; the rest stays free.
static void carve(struct span *span, size_t unit_count)
{
    bins_remove(span);
    bool is_dirty = span->is_dirty;
    size_t rest_count = span->unit_count - unit_count;
    if (rest_count != 0) {
        last_unit_of(span)->state = SPAN_NONE;
        struct span *rest = span_of_unit(span->base + unit_count * UNIT_BYTES);
        rest->base = span->base + unit_count * UNIT_BYTES;
        set_free(rest, rest_count, is_dirty);
        bins_insert(rest);
    }
    span->unit_count = (uint16_t)unit_count;
    for (size_t i = 0; i < unit_count; i++) {
        struct span *unit = span_of_unit(span->base + i * UNIT_BYTES);
        unit->state = SPAN_USED;
        unit->head_distance = (uint16_t)i;
    }
}

// Under the lock.
static void count_dirty(size_t bytes, int sign)
{
    atomic_fetch_add_explicit(&page_heap.dirty_bytes, (size_t)sign * bytes, memory_order_relaxed);
    budget_add(&budget.dirty_bytes, (size_t)sign * bytes);
}

// A span of pages that the budget has as dirty, or NULL.
static struct span *take_dirty(size_t unit_count)
{
    size_t bytes = unit_count * UNIT_BYTES;
    lock_take(&page_heap.lock);
    struct span *span = find_free(&page_heap.bins[true], unit_count);
    if (span != NULL) {
        count_dirty(bytes, -1);
        carve(span, unit_count);
    }
    lock_give(&page_heap.lock);
    return span;
}

// A span of pages that the caller has committed, or NULL.  *arena_bytes: how long the next arena
// should be.
static struct span *take_clean(size_t unit_count, size_t *arena_bytes)
{
    lock_take(&page_heap.lock);
    struct span *span = find_free(&page_heap.bins[false], unit_count);
    if (span != NULL) {
        carve(span, unit_count);
    }
    *arena_bytes = page_heap.next_arena_bytes;
    lock_give(&page_heap.lock);
    return span;
}

// One thread maps an arena at a time, and whoever waited looks for a span again first: else threads
// that miss at once would map one each.  The growth lock is taken by nobody else, so that the system
// call under it makes only those wait who need the arena.
static struct span *take_after_growth(size_t unit_count)
{
    size_t arena_bytes = 0;
    lock_take(&page_heap.growth_lock);
    struct span *span = take_clean(unit_count, &arena_bytes);
    while (span == NULL && add_arena(unit_count, arena_bytes)) {
        span = take_clean(unit_count, &arena_bytes);
    }
    lock_give(&page_heap.growth_lock);
    return span;
}

struct span *page_heap_take(size_t unit_count)
{
    hak_assert(unit_count >= 1 && unit_count <= SPAN_UNITS_MOST);
    size_t bytes = unit_count * UNIT_BYTES;
    struct span *span = take_dirty(unit_count);
    if (span != NULL || !budget_commit(bytes)) {
        return span;
    }
    size_t arena_bytes = 0;
    span = take_clean(unit_count, &arena_bytes);
    if (span == NULL) {
        span = take_after_growth(unit_count);
    }
    if (span == NULL) {
        budget_subtract(&budget.committed_bytes, bytes);
    }
    return span;
}

void page_heap_give(struct span *span)
{
    size_t bytes = (size_t)span->unit_count * UNIT_BYTES;
    page_map_set(span->base, span->unit_count, 0);
    lock_take(&page_heap.lock);
    count_dirty(bytes, 1);
    insert_free(span, true);
    lock_give(&page_heap.lock);
}

// Takes the longest dirty span out of the bins, as if used, or returns NULL.
static struct span *take_longest_dirty(void)
{
    struct span_bins *bins = &page_heap.bins[true];
    for (int word = 1; word >= 0; word--) {
        if (bins->occupied[word] != 0) {
            struct span *span = bins->list[word * 64 + (int)log2_floor(bins->occupied[word])];
            bins_remove(span);
            span->state = SPAN_USED;
            last_unit_of(span)->state = SPAN_USED;
            return span;
        }
    }
    return NULL;
}

// Takes back a span that was under way.  A purge that the system refuses leaves it dirty; a later
// purge tries again.
static void end_purge(struct span *span, bool is_purged)
{
    size_t bytes = (size_t)span->unit_count * UNIT_BYTES;
    lock_take(&page_heap.lock);
    span_list_remove(&page_heap.under_way, span);
    if (is_purged) {
        budget_uncommit(bytes);
    } else {
        count_dirty(bytes, 1);
    }
    insert_free(span, !is_purged);
    lock_give(&page_heap.lock);
}

// Cuts a span that is under way in two; returns the second half, under way too.
static struct span *halve(struct span *span)
{
    lock_take(&page_heap.lock);
    size_t first_count = span->unit_count / 2;
    struct span *second = span_of_unit(span->base + first_count * UNIT_BYTES);
    second->base = span->base + first_count * UNIT_BYTES;
    second->unit_count = (uint16_t)(span->unit_count - first_count);
    second->state = SPAN_USED;
    second->is_dirty = span->is_dirty;
    span->unit_count = (uint16_t)first_count;
    last_unit_of(span)->state = SPAN_USED;
    span_list_push(&page_heap.under_way, second);
    lock_give(&page_heap.lock);
    return second;
}

// Purges a span that is under way.  The system refuses a range with a page that the program has locked
// in memory (EINVAL): then the halves are tried, so that only the unit with that page stays dirty.
static size_t purge_span(struct span *span)
{
    size_t bytes = (size_t)span->unit_count * UNIT_BYTES;
    int error = os_purge((void *)span->base, bytes);
    if (error == EINVAL && span->unit_count > 1) {
        struct span *second = halve(span);
        return purge_span(span) + purge_span(second);
    }
    end_purge(span, error == 0);
    return error == 0 ? bytes : 0;
}

// The lock isn't held while the system call runs.
static size_t purge_one(size_t keep_bytes)
{
    lock_take(&page_heap.lock);
    struct span *span = page_heap_dirty_bytes() > keep_bytes ? take_longest_dirty() : NULL;
    if (span != NULL) {
        count_dirty((size_t)span->unit_count * UNIT_BYTES, -1);
        span_list_push(&page_heap.under_way, span);
    }
    lock_give(&page_heap.lock);
    return span != NULL ? purge_span(span) : 0;
}

size_t page_heap_purge(size_t keep_bytes)
{
    size_t purged_bytes = 0;
    for (size_t bytes = purge_one(keep_bytes); bytes != 0; bytes = purge_one(keep_bytes)) {
        purged_bytes += bytes;
    }
    return purged_bytes;
}

size_t page_heap_dirty_bytes(void)
{
    return atomic_load_explicit(&page_heap.dirty_bytes, memory_order_relaxed);
}

void page_heap_lock(void)
{
    lock_take(&page_heap.growth_lock);
    lock_take(&page_heap.lock);
}

void page_heap_unlock(void)
{
    lock_give(&page_heap.lock);
    lock_give(&page_heap.growth_lock);
}

// Whether it was purged yet isn't known: it counts as dirty.
void page_heap_after_fork_in_child(void)
{
    while (page_heap.under_way != NULL) {
        end_purge(page_heap.under_way, false);
    }
}
