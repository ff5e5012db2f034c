// SPDX-License-Identifier: MIT
#include "region/page_heap.h"

#include "base/bits.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "policy/gates.h"
#include "region/arena.h"
#include "region/free_spans.h"
#include "stats/budget.h"

#include <errno.h>

// Guarded by page_heap.lock, except dirty_bytes, which others read.
//
// Invariant of a huge chunk: it is clean as a whole or not at all, because the first touch makes all
// of it resident.  So its clean part is never cut: what isn't wanted of it becomes dirty.
static struct {
    struct lock lock;
    struct lock growth_lock;  // taken before `lock`
    struct free_spans free;
    size_t next_arena_bytes;
    struct span *under_way;   // out of the free spans while they are purged
    struct span *refused;     // and until the purge ends that could not purge them
    uint64_t *spare_bitmaps;  // of units that were unmapped; each begins with the next
    _Atomic size_t dirty_bytes;
} page_heap;

// What is wanted of the page heap.
struct span_request {
    size_t unit_count;
    size_t align_units;  // a power of two
    bool is_run;         // a block that may grow: where there is room
};

// A span of this length holds the wanted one, wherever it begins.
static size_t least_units(const struct span_request *request)
{
    return request->unit_count + request->align_units - 1;
}

static void insert_arena_part(uintptr_t base, size_t bytes)
{
    struct span *span = span_of_unit(base);
    span->base = base;
    span->unit_count = (uint16_t)(bytes / UNIT_BYTES);
    free_spans_insert(&page_heap.free, span, false);
}

static void insert_arena(const struct arena *arena)
{
    uintptr_t end = arena->base + arena->bytes;
    // In parts that are never merged: see free_spans.h.
    uintptr_t part_bytes = arena->is_huge ? WINDOW_BYTES : (uintptr_t)1 << ZONE_SHIFT;
    lock_take(&page_heap.lock);
    page_map_set(arena->base, arena->bytes / UNIT_BYTES,
                 0);  // a freed large block may have been here
    arena_mark(arena);
    for (uintptr_t part = arena->base; part < end;) {
        uintptr_t part_end = min_size(align_up(part + 1, part_bytes), end);
        insert_arena_part(part, part_end - part);
        part = part_end;
    }
    page_heap.next_arena_bytes = min_size(2 * arena->bytes, ARENA_BYTES_MOST);
    lock_give(&page_heap.lock);
}

// Adds an arena of at least `unit_count` units.  Under the growth lock.
static bool add_arena(size_t unit_count, size_t wanted_bytes)
{
    struct arena arena = arena_map(unit_count * UNIT_BYTES, wanted_bytes);
    if (arena.bytes != 0) {
        insert_arena(&arena);
    }
    return arena.bytes != 0;
}

// Under the lock.
static void count_dirty(size_t bytes, int sign)
{
    atomic_fetch_add_explicit(&page_heap.dirty_bytes, (size_t)sign * bytes, memory_order_relaxed);
    budget_add(&budget.dirty_bytes, (size_t)sign * bytes);
}

// A free span of a kind that holds what is wanted, or NULL.  A run goes where it can double.
static struct span *find_span(const struct span_request *request, bool is_dirty)
{
    size_t unit_count = least_units(request);
    if (request->is_run) {
        struct span *longest = free_spans_longest(&page_heap.free, is_dirty);
        if (longest != NULL && longest->unit_count >= 2 * unit_count) {
            return longest;
        }
    }
    return free_spans_find(&page_heap.free, unit_count, is_dirty);
}

// Where in a free span the wanted one begins.  A run begins in the middle of memory that was never
// touched, if there is plenty: then neither of two blocks that grow side by side is soon in the other's
// way.
static size_t lead_units(const struct span *span, const struct span_request *request)
{
    enum {
        PLENTY = 8
    };
    size_t align_bytes = request->align_units * UNIT_BYTES;
    uintptr_t start = span->base;
    if (request->is_run && !span->is_dirty && !page_map_is_huge(start) &&
        span->unit_count >= PLENTY * least_units(request)) {
        start += span->unit_count / 2 * (uintptr_t)UNIT_BYTES;
    }
    return (align_up(start, align_bytes) - span->base) / UNIT_BYTES;
}

// A span of pages that the budget has as dirty, or NULL.
static struct span *take_dirty(const struct span_request *request)
{
    lock_take(&page_heap.lock);
    struct span *span = find_span(request, true);
    if (span != NULL) {
        span = free_spans_skip(&page_heap.free, span, lead_units(span, request));
        count_dirty(request->unit_count * UNIT_BYTES, -1);
        free_spans_carve(&page_heap.free, span, request->unit_count);
    }
    lock_give(&page_heap.lock);
    return span;
}

// Bytes that become dirty when `unit_count` units are carved out of clean huge chunks.
static size_t chunk_rest_bytes(size_t unit_count)
{
    return (align_up(unit_count, CHUNK_UNIT_COUNT) - unit_count) * UNIT_BYTES;
}

// Carves a clean span, which the caller has committed.  Out of a huge one whole chunks, committed whole: what
// isn't wanted of the last one becomes dirty.  Under the lock.
static void carve_clean(struct span *span, size_t unit_count)
{
    if (!page_map_is_huge(span->base)) {
        free_spans_carve(&page_heap.free, span, unit_count);
        return;
    }
    size_t rest_bytes = chunk_rest_bytes(unit_count);
    hak_assert(span->base % CHUNK_BYTES == 0);
    free_spans_carve(&page_heap.free, span, unit_count + rest_bytes / UNIT_BYTES);
    if (rest_bytes != 0) {
        struct span *rest = span_split(span, unit_count);
        count_dirty(rest_bytes, 1);
        free_spans_insert(&page_heap.free, rest, true);
    }
}

// All of a huge span lies in one window.
void page_heap_avoid_huge(const struct span *span)
{
    if (page_map_is_huge(span->base)) {
        lock_take(&page_heap.lock);
        uint32_t chunks = arena_forget_huge(span->base);
        lock_give(&page_heap.lock);
        arena_avoid_huge(span->base, chunks);
    }
}

// A span of pages that the caller has committed, or NULL.  *arena_bytes: how long the next arena
// should be.
static struct span *take_clean(const struct span_request *request, size_t *arena_bytes)
{
    uint32_t former_chunks = 0;
    lock_take(&page_heap.lock);
    struct span *span = find_span(request, false);
    if (span != NULL) {
        span = free_spans_skip(&page_heap.free, span, lead_units(span, request));
        if (page_map_is_huge(span->base) && !budget_commit(chunk_rest_bytes(request->unit_count))) {
            former_chunks = arena_forget_huge(span->base);
        }
        carve_clean(span, request->unit_count);
    }
    *arena_bytes = page_heap.next_arena_bytes;
    lock_give(&page_heap.lock);
    if (former_chunks != 0) {
        arena_avoid_huge(span->base, former_chunks);
    }
    return span;
}

// One thread maps an arena at a time, and whoever waited looks for a span again first: else threads
// that miss at once would map one each.  The growth lock is taken by nobody else, so that the system
// call under it makes only those wait who need the arena.
static struct span *take_after_growth(const struct span_request *request)
{
    size_t arena_bytes = 0;
    lock_take(&page_heap.growth_lock);
    struct span *span = take_clean(request, &arena_bytes);
    while (span == NULL && add_arena(least_units(request), arena_bytes)) {
        span = take_clean(request, &arena_bytes);
    }
    lock_give(&page_heap.growth_lock);
    return span;
}

static struct span *take(const struct span_request *request)
{
    size_t bytes = request->unit_count * UNIT_BYTES;
    struct span *span = take_dirty(request);
    if (span != NULL || !budget_commit(bytes)) {
        return span;
    }
    size_t arena_bytes = 0;
    span = take_clean(request, &arena_bytes);
    if (span == NULL && request->unit_count <= RUN_UNITS_MOST) {
        span = take_after_growth(request);
    }
    if (span == NULL) {
        budget_subtract(&budget.committed_bytes, bytes);
    }
    return span;
}

struct span *page_heap_take(size_t unit_count)
{
    hak_assert(unit_count >= 1 && unit_count <= SLAB_UNITS_MOST);
    struct span *span = take(&(struct span_request){.unit_count = unit_count, .align_units = 1});
    if (span != NULL && !span->is_dirty && page_map_is_huge(span->base)) {
        // All of the last chunk at once, so that the budget tells the truth where the system has no
        // huge page to give.
        os_populate((void *)span->base, align_up(unit_count * UNIT_BYTES, CHUNK_BYTES));
        span->is_dirty = true;
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
        arena_mark(&(struct arena){.base = span->base, .bytes = CHUNK_BYTES, .is_huge = true});
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

// The chunks of a run are not populated: the program may never touch most of them.
struct span *page_heap_take_run(size_t unit_count, size_t align_units)
{
    return take(&(struct span_request){
        .unit_count = unit_count, .align_units = align_units, .is_run = true});
}

// The free span behind a used one that it may grow into, or NULL.
static struct span *free_behind(uintptr_t end, uintptr_t backing)
{
    if (page_map_unit_index(end) == 0 || !free_spans_match(end, backing)) {
        return NULL;
    }
    struct span *span = span_of_unit(end);
    return span->state == SPAN_FREE ? span : NULL;
}

// Is there room for `unit_count` units more?  *clean_bytes: what of them is to be committed.
static bool has_room(const struct span *span, size_t unit_count, size_t *clean_bytes)
{
    uintptr_t end = span_end(span);
    while (unit_count != 0) {
        const struct span *next = free_behind(end, span->base);
        if (next == NULL) {
            return false;
        }
        size_t used_count = min_size(next->unit_count, unit_count);
        if (!next->is_dirty) {
            *clean_bytes += used_count * UNIT_BYTES;
            *clean_bytes += page_map_is_huge(end) ? chunk_rest_bytes(used_count) : 0;
        }
        unit_count -= used_count;
        end = span_end(next);
    }
    return true;
}

// Joins the free span behind `span` to it, or the first `unit_count` units of that.  Under the lock.
static void absorb(struct span *span, size_t unit_count)
{
    struct span *next = span_of_unit(span_end(span));
    size_t used_count = min_size(next->unit_count, unit_count);
    if (next->is_dirty) {
        count_dirty(used_count * UNIT_BYTES, -1);
        free_spans_carve(&page_heap.free, next, used_count);
    } else {
        carve_clean(next, used_count);
    }
    span->unit_count = (uint16_t)(span->unit_count + used_count);
}

bool page_heap_extend(struct span *span, size_t unit_count)
{
    size_t clean_bytes = 0;
    lock_take(&page_heap.lock);
    bool can_grow =
        has_room(span, unit_count - span->unit_count, &clean_bytes) && budget_commit(clean_bytes);
    while (can_grow && span->unit_count < unit_count) {
        absorb(span, unit_count - span->unit_count);
    }
    lock_give(&page_heap.lock);
    return can_grow;
}

void page_heap_shrink(struct span *span, size_t unit_count)
{
    page_heap_give(span_split(span, unit_count));
}

void page_heap_give_clean(struct span *span)
{
    hak_assert(!page_map_is_huge(span->base));
    page_map_set(span->base, span->unit_count, 0);
    lock_take(&page_heap.lock);
    budget_uncommit((size_t)span->unit_count * UNIT_BYTES);
    free_spans_insert(&page_heap.free, span, false);
    lock_give(&page_heap.lock);
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
        *former_chunks = arena_forget_huge(span->base);
    }
    return span;
}

// Takes a span back from a purge.  Under the lock.
static void end_purge(struct span **list, struct span *span, bool is_purged)
{
    size_t bytes = (size_t)span->unit_count * UNIT_BYTES;
    span_list_remove(list, span);
    if (is_purged) {
        budget_uncommit(bytes);
    } else {
        count_dirty(bytes, 1);
    }
    free_spans_insert(&page_heap.free, span, !is_purged);
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
    lock_take(&page_heap.lock);
    if (error == 0) {
        end_purge(&page_heap.under_way, span, true);
    } else {
        span_list_remove(&page_heap.under_way, span);
        span_list_push(&page_heap.refused, span);
    }
    lock_give(&page_heap.lock);
    return error == 0 ? bytes : 0;
}

// The next span to purge, under way, or NULL.
static struct span *begin_purge(size_t keep_bytes)
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
    if (former_chunks != 0) {
        arena_avoid_huge(span->base, former_chunks);
    }
    return span;
}

// What the system refused to purge is dirty again, and a later purge tries it again; what is noted in the
// budget keeps it from coming at once.
static void take_back_refused(void)
{
    size_t bytes = 0;
    lock_take(&page_heap.lock);
    while (page_heap.refused != NULL) {
        bytes += (size_t)page_heap.refused->unit_count * UNIT_BYTES;
        end_purge(&page_heap.refused, page_heap.refused, false);
    }
    atomic_store_explicit(&budget.refused_bytes, bytes, memory_order_relaxed);
    lock_give(&page_heap.lock);
}

// The lock isn't held while the system is called.
size_t page_heap_purge(size_t keep_bytes)
{
    size_t purged_bytes = 0;
    struct span *span = NULL;
    while ((span = begin_purge(keep_bytes)) != NULL) {
        purged_bytes += purge_span(span);
    }
    take_back_refused();
    return purged_bytes;
}

// Units that are unmapped are no neighbours any more, and leave their bitmaps to others: the next arena may
// lie elsewhere.  Under the lock.
static void forget_units(const struct span *span)
{
    for (uintptr_t address = span->base; address < span_end(span); address += UNIT_BYTES) {
        struct span *unit = span_of_unit(address);
        uint64_t *bitmap = unit->bitmap_store;
        unit->state = SPAN_NONE;
        if (bitmap != NULL) {
            *(uint64_t **)(void *)bitmap = page_heap.spare_bitmaps;
            page_heap.spare_bitmaps = bitmap;
            unit->bitmap_store = NULL;
        }
    }
}

uint64_t *page_heap_take_bitmap(void)
{
    lock_take(&page_heap.lock);
    uint64_t *bitmap = page_heap.spare_bitmaps;
    if (bitmap != NULL) {
        page_heap.spare_bitmaps = *(uint64_t **)(void *)bitmap;
    }
    lock_give(&page_heap.lock);
    return bitmap;
}

// A clean span out of the page heap for good, or NULL: the longest, if it has `least_units`, else one that is
// all that is left of a mapping.
static struct span *take_to_unmap(size_t least_units)
{
    lock_take(&page_heap.lock);
    struct span *span = free_spans_longest(&page_heap.free, false);
    if (span != NULL && span->unit_count < least_units) {
        span = free_spans_find_alone(&page_heap.free, false);
    }
    if (span != NULL) {
        free_spans_carve(&page_heap.free, span, span->unit_count);
        forget_units(span);
        // Somebody else's memory may be there next, which is not to be advised.
        arena_mark(&(struct arena){.base = span->base, .bytes = span_end(span) - span->base});
    }
    lock_give(&page_heap.lock);
    return span;
}

// How long a span must be to be unmapped though that may split a mapping in two.
static size_t unmapped_units_least(size_t missing_bytes)
{
    enum {
        WORTHWHILE_UNITS = ARENA_BYTES_FIRST / UNIT_BYTES,
        NEEDED_UNITS = 4,
    };
    return missing_bytes != 0 ? NEEDED_UNITS : WORTHWHILE_UNITS;
}

// What the system refused to unmap is free again.  Its records may be gone, and count again.
static void keep_mapped(uintptr_t base, size_t bytes)
{
    budget_add(&budget.mapped_bytes, bytes);
    page_map_count_records(base, bytes);
    os_avoid_huge_pages((void *)base, bytes);
    lock_take(&page_heap.lock);
    insert_arena_part(base, bytes);
    lock_give(&page_heap.lock);
}

// From the system call on, the units may be part of a new arena.
size_t page_heap_unmap_clean(size_t wanted_bytes)
{
    size_t unmapped_bytes = 0;
    const struct span *span = NULL;
    while ((span = take_to_unmap(unmapped_units_least(
                wanted_bytes - min_size(unmapped_bytes, wanted_bytes)))) != NULL) {
        uintptr_t base = span->base;
        size_t bytes = span_end(span) - base;
        budget_subtract(&budget.mapped_bytes, bytes);
        page_map_forget_records(base, bytes);
        if (os_unmap((void *)base, bytes) != 0) {
            keep_mapped(base, bytes);
            break;
        }
        unmapped_bytes += bytes;
    }
    return unmapped_bytes;
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
        end_purge(&page_heap.under_way, page_heap.under_way, false);
    }
    while (page_heap.refused != NULL) {
        end_purge(&page_heap.refused, page_heap.refused, false);
    }
}
