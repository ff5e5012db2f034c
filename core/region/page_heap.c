// SPDX-License-Identifier: MIT
#include "region/page_heap.h"

#include "base/bit_runs.h"
#include "base/bits.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "policy/gates.h"
#include "region/free_spans.h"
#include "stats/budget.h"

#include <errno.h>

enum {
    ARENA_BYTES_FIRST = 4 << 20,
    ARENA_BYTES_MOST = 64 << 20,
};

// Guarded by page_heap.lock, except dirty_bytes, which others read.
//
// Invariant of a huge chunk: it is clean as a whole or not at all, because the first touch makes all
// of it resident.  So its clean part is never cut: what isn't wanted of it becomes dirty.
static struct {
    struct lock lock;
    struct lock growth_lock;  // taken before `lock`
    struct free_spans free;
    size_t next_arena_bytes;
    struct span *under_way;  // out of the free spans while they are purged
    _Atomic size_t dirty_bytes;
} page_heap;

static void insert_arena_part(uintptr_t base, size_t bytes)
{
    struct span *span = span_of_unit(base);
    span->base = base;
    span->unit_count = (uint16_t)(bytes / UNIT_BYTES);
    free_spans_insert(&page_heap.free, span, false);
}

// Notes which chunks were asked to be huge.  Under the lock.
static void mark_huge(uintptr_t base, size_t bytes)
{
    for (uintptr_t chunk = base; chunk < base + bytes; chunk += CHUNK_BYTES) {
        atomic_fetch_or_explicit(&page_map_chunk_bits(chunk)->huge[chunk_word(chunk)],
                                 chunk_bit(chunk), memory_order_relaxed);
    }
}

static void insert_arena(uintptr_t base, size_t bytes, bool is_huge)
{
    lock_take(&page_heap.lock);
    page_map_set(base, bytes / UNIT_BYTES, 0);  // a freed large block may have been here
    if (is_huge) {
        mark_huge(base, bytes);
    }
    // In parts that are never merged: see free_spans.h.
    uintptr_t part_bytes = is_huge ? WINDOW_BYTES : (uintptr_t)1 << ZONE_SHIFT;
    for (uintptr_t part = base; part < base + bytes;) {
        uintptr_t part_end = min_size(align_up(part + 1, part_bytes), base + bytes);
        insert_arena_part(part, part_end - part);
        part = part_end;
    }
    page_heap.next_arena_bytes = min_size(2 * bytes, ARENA_BYTES_MOST);
    lock_give(&page_heap.lock);
}

// Maps an arena that the page map covers, or returns NULL.
static char *map_arena(size_t bytes)
{
    char *arena = os_map(bytes, bytes >= ARENA_BYTES_FIRST ? CHUNK_BYTES : UNIT_BYTES);
    if (arena != NULL && !page_map_extend((uintptr_t)arena, bytes)) {
        (void)os_unmap(arena, bytes);
        arena = NULL;
    }
    return arena;
}

// Is the heap big enough for huge pages to pay?
static bool wants_huge_pages(uintptr_t base, size_t bytes)
{
    uint64_t from_bytes = gate_live(&gates.huge_pages);
    return from_bytes != 0 && budget_read(&budget.committed_bytes) >= from_bytes &&
           os_huge_page_bytes() == CHUNK_BYTES && (base | bytes) % CHUNK_BYTES == 0;
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
    bool is_huge = wants_huge_pages((uintptr_t)arena, bytes);
    if (is_huge) {
        os_want_huge_pages(arena, bytes);
    } else {
        os_avoid_huge_pages(arena, bytes);
    }
    budget_add(&budget.mapped_bytes, bytes);
    page_map_count_records((uintptr_t)arena, bytes);
    insert_arena((uintptr_t)arena, bytes, is_huge);
    return true;
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
    lock_take(&page_heap.lock);
    struct span *span = free_spans_find(&page_heap.free, unit_count, true);
    if (span != NULL) {
        count_dirty(unit_count * UNIT_BYTES, -1);
        free_spans_carve(&page_heap.free, span, unit_count);
    }
    lock_give(&page_heap.lock);
    return span;
}

// Carves whole chunks out of a clean huge span; what isn't wanted of the last one becomes dirty.  False:
// the limit doesn't allow so much, and nothing was done.  Under the lock.
static bool carve_chunks(struct span *span, size_t unit_count)
{
    size_t whole_count = align_up(unit_count, CHUNK_UNIT_COUNT);
    size_t rest_bytes = (whole_count - unit_count) * UNIT_BYTES;
    if (!budget_commit(rest_bytes)) {
        return false;
    }
    hak_assert(span->base % CHUNK_BYTES == 0);
    free_spans_carve(&page_heap.free, span, whole_count);
    span->is_dirty = true;
    if (rest_bytes != 0) {
        struct span *rest = span_split(span, unit_count);
        count_dirty(rest_bytes, 1);
        free_spans_insert(&page_heap.free, rest, true);
    }
    return true;
}

// The chunks of the window around `address` are huge no longer; returns which ones were.  Under the
// lock.
static uint32_t forget_huge(uintptr_t address)
{
    return atomic_exchange_explicit(&page_map_chunk_bits(address)->huge[chunk_word(address)], 0,
                                    memory_order_relaxed);
}

// Tells the system so.  The caller holds no lock.
static void avoid_huge_pages(uintptr_t address, uint32_t chunks)
{
    uintptr_t window = align_down(address, WINDOW_BYTES);
    while (chunks != 0) {
        uint64_t run = bits_lowest_run(chunks);
        os_avoid_huge_pages((void *)(window + (uintptr_t)__builtin_ctzll(run) * CHUNK_BYTES),
                            (size_t)__builtin_popcountll(run) * CHUNK_BYTES);
        chunks &= ~(uint32_t)run;
    }
}

// All of a huge span lies in one window.
void page_heap_avoid_huge(const struct span *span)
{
    if (page_map_is_huge(span->base)) {
        lock_take(&page_heap.lock);
        uint32_t chunks = forget_huge(span->base);
        lock_give(&page_heap.lock);
        avoid_huge_pages(span->base, chunks);
    }
}

// A span of pages that the caller has committed, or NULL.  *arena_bytes: how long the next arena
// should be.
static struct span *take_clean(size_t unit_count, size_t *arena_bytes)
{
    uint32_t former_chunks = 0;
    lock_take(&page_heap.lock);
    struct span *span = free_spans_find(&page_heap.free, unit_count, false);
    bool is_huge = span != NULL && page_map_is_huge(span->base);
    if (is_huge && !carve_chunks(span, unit_count)) {
        former_chunks = forget_huge(span->base);
        is_huge = false;
    }
    if (span != NULL && !is_huge) {
        free_spans_carve(&page_heap.free, span, unit_count);
    }
    *arena_bytes = page_heap.next_arena_bytes;
    lock_give(&page_heap.lock);
    if (is_huge) {
        // All of the last chunk at once, so that the budget tells the truth where the system has no
        // huge page to give.
        os_populate((void *)span->base, align_up(unit_count * UNIT_BYTES, CHUNK_BYTES));
    } else if (former_chunks != 0) {
        avoid_huge_pages(span->base, former_chunks);
    }
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

// Makes the part of a used span that isn't `[start, end)` free again, dirty or clean; returns that part.
// Under the lock.
static struct span *trim(struct span *span, uintptr_t start, uintptr_t end, bool is_dirty)
{
    struct span *part = span;
    if (start > span->base) {
        part = span_split(span, (start - span->base) / UNIT_BYTES);
        free_spans_insert(&page_heap.free, span, is_dirty);
    }
    if (end < span_end(part)) {
        struct span *rest = span_split(part, (end - part->base) / UNIT_BYTES);
        free_spans_insert(&page_heap.free, rest, is_dirty);
    }
    return part;
}

// The chunk of a free span that has one, as a used span; a huge one, if there is any.  Its pages
// are counted as those of used spans are.
static struct span *carve_chunk(bool is_dirty)
{
    lock_take(&page_heap.lock);
    struct span *span = free_spans_find_chunk(&page_heap.free, is_dirty, true);
    if (span == NULL) {
        span = free_spans_find_chunk(&page_heap.free, is_dirty, false);
    }
    if (span != NULL) {
        uintptr_t start = align_up(span->base, CHUNK_BYTES);
        free_spans_carve(&page_heap.free, span, span->unit_count);
        span = trim(span, start, start + CHUNK_BYTES, is_dirty);
        span_use(span);
        if (is_dirty) {
            count_dirty(CHUNK_BYTES, -1);
        }
    }
    lock_give(&page_heap.lock);
    return span;
}

// As take_after_growth.
static struct span *carve_chunk_after_growth(void)
{
    lock_take(&page_heap.growth_lock);
    struct span *span = carve_chunk(false);
    // Arenas of this length begin at a chunk.
    while (span == NULL && add_arena(ARENA_BYTES_FIRST / UNIT_BYTES, ARENA_BYTES_FIRST)) {
        span = carve_chunk(false);
    }
    lock_give(&page_heap.growth_lock);
    return span;
}

// Where the chunk has small pages they are given back first: the system puts a huge page only where
// there is none yet.
static void make_huge(const struct span *span)
{
    bool is_resident = span->is_dirty;
    if (!page_map_is_huge(span->base) && gate_live(&gates.huge_pages) != 0 &&
        os_huge_page_bytes() == CHUNK_BYTES) {
        is_resident = is_resident && os_purge((void *)span->base, CHUNK_BYTES) != 0;
        lock_take(&page_heap.lock);
        mark_huge(span->base, CHUNK_BYTES);
        lock_give(&page_heap.lock);
        os_want_huge_pages((void *)span->base, CHUNK_BYTES);
    }
    if (!is_resident) {
        os_populate((void *)span->base, CHUNK_BYTES);
    }
}

struct span *page_heap_take_chunk(void)
{
    struct span *span = carve_chunk(true);
    if (span == NULL && budget_commit(CHUNK_BYTES)) {
        span = carve_chunk_after_growth();
        if (span == NULL) {
            budget_subtract(&budget.committed_bytes, CHUNK_BYTES);
        }
    }
    if (span != NULL) {
        make_huge(span);
    }
    return span;
}

void page_heap_give(struct span *span)
{
    size_t bytes = (size_t)span->unit_count * UNIT_BYTES;
    page_map_set(span->base, span->unit_count, 0);
    lock_take(&page_heap.lock);
    count_dirty(bytes, 1);
    free_spans_insert(&page_heap.free, span, true);
    lock_give(&page_heap.lock);
}

// Takes the longest dirty span, as if used, or returns NULL.  Of a huge one only the whole chunks;
// where there is none, the window that it lies in is huge no longer, and *former_chunks says which of
// its chunks were.  Under the lock.
static struct span *take_longest_dirty(uint32_t *former_chunks)
{
    struct span *span = free_spans_longest(&page_heap.free, true);
    if (span == NULL) {
        return NULL;
    }
    free_spans_carve(&page_heap.free, span, span->unit_count);
    if (page_map_is_huge(span->base)) {
        uintptr_t start = align_up(span->base, CHUNK_BYTES);
        uintptr_t end = align_down(span_end(span), CHUNK_BYTES);
        if (start < end) {
            return trim(span, start, end, true);
        }
        *former_chunks = forget_huge(span->base);
    }
    return span;
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
    free_spans_insert(&page_heap.free, span, !is_purged);
    lock_give(&page_heap.lock);
}

// Cuts a span that is under way in two; returns the second half, under way too.
static struct span *halve(struct span *span)
{
    lock_take(&page_heap.lock);
    struct span *second = span_split(span, span->unit_count / 2);
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
        page_heap_avoid_huge(span);
        struct span *second = halve(span);
        return purge_span(span) + purge_span(second);
    }
    end_purge(span, error == 0);
    return error == 0 ? bytes : 0;
}

// The lock isn't held while the system is called.
static size_t purge_one(size_t keep_bytes)
{
    uint32_t former_chunks = 0;
    lock_take(&page_heap.lock);
    struct span *span =
        page_heap_dirty_bytes() > keep_bytes ? take_longest_dirty(&former_chunks) : NULL;
    if (span != NULL) {
        count_dirty((size_t)span->unit_count * UNIT_BYTES, -1);
        span_list_push(&page_heap.under_way, span);
    }
    lock_give(&page_heap.lock);
    if (span == NULL) {
        return 0;
    }
    avoid_huge_pages(span->base, former_chunks);
    return purge_span(span);
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
