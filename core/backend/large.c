// SPDX-License-Identifier: MIT
#include "backend/large.h"

#include "backend/backend.h"
#include "base/bits.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "os/os_thread.h"
#include "region/page_heap.h"
#include "stats/budget.h"

#include <string.h>

enum {
    SPAN_BYTES_MOST = RUN_UNITS_MOST * UNIT_BYTES,  // above: a mapping of its own
    MOVED_PAGES_LEAST = 8 << 20,  // so much is moved by the system, less is copied
};

// What a block is, beside its place.
struct large_kind {
    size_t block_bytes;  // usable, whole OS pages
    struct span **owned;
    page_entry entry;  // what the page map says while the block is live
    bool is_mapping;   // of its own; else a span of the page heap
};

// The record of the unit in which a large block begins.
struct large {
    struct span span;  // base: the exact start; next and prev: the owner's list
    struct large_kind kind;
    size_t held_bytes;  // of a refused mapping: what could not even be purged
};

_Static_assert(sizeof(struct large) <= UNIT_RECORD_BYTES, "a large block is the record of a unit");

// Guarded by large.lock.
static struct {
    struct lock lock;
    size_t live_bytes;
    size_t live_count;
    struct span *refused;  // mappings that the system refused to unmap
} large;

static struct large *record_of(const void *pointer)
{
    return (struct large *)(void *)span_of_unit((uintptr_t)pointer);
}

static void set_entry(const struct large *record, page_entry entry)
{
    page_map_set(align_down(record->span.base, UNIT_BYTES), 1, entry);
}

// Makes the run at `base` a live block.  Under the lock.
static void make_live(void *base, const struct large_kind *kind)
{
    struct large *record = record_of(base);
    record->span.base = (uintptr_t)base;
    record->span.backend = BACKEND_LARGE;
    record->kind = *kind;
    if (record->kind.owned != NULL) {
        span_list_push(record->kind.owned, &record->span);
    }
    large.live_bytes += record->kind.block_bytes;
    large.live_count++;
    set_entry(record, record->kind.entry);
}

// Ends a live block: its entry says from here on that it was freed.  Under the lock.
static void end_live(struct large *record)
{
    set_entry(record, page_entry_make(FREED_TAG, LARGE_CLASS));
    if (record->kind.owned != NULL) {
        span_list_remove(record->kind.owned, &record->span);
    }
    large.live_bytes -= record->kind.block_bytes;
    large.live_count--;
}

static size_t units_of(size_t bytes)
{
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
}

// A mapping of the caller's committed bytes, or NULL.
static void *map_block(size_t bytes, size_t align_bytes)
{
    char *base = os_map(bytes, align_bytes);
    if (base == NULL) {
        return NULL;
    }
    if (!page_map_extend((uintptr_t)base, 1) || !page_map_commit_records((uintptr_t)base, 1)) {
        os_discard(base, bytes);
        return NULL;
    }
    budget_add(&budget.mapped_bytes, bytes);
    return base;
}

static void *take_mapping(struct large_kind *kind, size_t bytes, size_t align_bytes, bool *is_zero)
{
    bytes = max_size(bytes, UNIT_BYTES);
    if (!budget_commit(bytes)) {
        return NULL;
    }
    void *base = map_block(bytes, align_bytes);
    if (base == NULL) {
        budget_subtract(&budget.committed_bytes, bytes);
    }
    kind->is_mapping = true;
    kind->block_bytes = bytes;
    *is_zero = true;
    return base;
}

static void *take_span(struct large_kind *kind, size_t bytes, size_t align_bytes, bool *is_zero)
{
    if (bytes + align_bytes >= (size_t)1 << ZONE_SHIFT) {
        return NULL;
    }
    size_t align_units = max_size(align_bytes / UNIT_BYTES, 1);
    struct span *span = page_heap_take_run(units_of(bytes), align_units);
    if (span == NULL) {
        return NULL;
    }
    kind->is_mapping = false;
    kind->block_bytes = bytes;
    *is_zero = !span->is_dirty;
    return (void *)span->base;
}

void *large_take(const struct large_request *request, bool *is_zero)
{
    size_t page_bytes = os_page_bytes();
    size_t bytes = align_up(request->bytes, page_bytes);
    size_t align_bytes = max_size(request->align_bytes, page_bytes);
    if (bytes >> ADDRESS_BITS != 0 || bytes < request->bytes || align_bytes >> ADDRESS_BITS != 0) {
        return NULL;
    }
    struct large_kind kind = {.owned = request->owned,
                              .entry = page_entry_make(request->owner_tag, LARGE_CLASS)};
    // Each is the other's stand-by: a span may be free where nothing can be mapped, and where address space is
    // short the system may have room for the block but not for an arena.
    bool is_long = bytes + align_bytes > SPAN_BYTES_MOST;
    void *base = is_long ? take_mapping(&kind, bytes, align_bytes, is_zero)
                         : take_span(&kind, bytes, align_bytes, is_zero);
    if (base == NULL) {
        base = is_long ? take_span(&kind, bytes, align_bytes, is_zero)
                       : take_mapping(&kind, bytes, align_bytes, is_zero);
    }
    if (base != NULL) {
        lock_take(&large.lock);
        make_live(base, &kind);
        lock_give(&large.lock);
    }
    return base;
}

static struct large *live_record(const void *pointer)
{
    page_entry entry = page_map_lookup(pointer);
    if (page_entry_class(entry) == LARGE_CLASS) {
        struct large *record = record_of(pointer);
        if (record->span.base == (uintptr_t)pointer) {
            if (page_entry_tag(entry) != FREED_TAG) {
                return record;
            }
            die_misuse("double free", pointer, record->kind.block_bytes);
        }
    }
    backend_die_unknown(pointer);
}

size_t large_former_bytes(const struct span *record, uintptr_t address)
{
    return record->base == address ? ((const struct large *)(const void *)record)->kind.block_bytes
                                   : 0;
}

// Notes a mapping that stays although its block was freed.  The caller holds no lock.
static void keep_refused(void *base, size_t bytes, size_t held_bytes)
{
    struct large *record = record_of(base);
    lock_take(&large.lock);
    record->span.base = (uintptr_t)base;
    record->kind.block_bytes = bytes;
    record->held_bytes = held_bytes;
    span_list_push(&large.refused, &record->span);
    lock_give(&large.lock);
}

// Unmaps the mapping of a freed block, or at least purges it.  Its unit may have a new block at once, so
// the sums come first.  Returns the bytes given back.
static size_t unmap_block(void *base, size_t bytes, size_t committed_bytes)
{
    budget_subtract(&budget.mapped_bytes, bytes);
    budget_uncommit(committed_bytes);
    if (os_unmap(base, bytes) == 0) {
        return bytes;
    }
    budget_add(&budget.mapped_bytes, bytes);
    bool is_held = committed_bytes != 0 && os_purge(base, bytes) != 0;
    size_t held_bytes = is_held ? committed_bytes : 0;
    budget_commit_anyway(held_bytes);
    keep_refused(base, bytes, held_bytes);
    return 0;
}

void large_give(void *pointer)
{
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    size_t bytes = record->kind.block_bytes;
    bool is_mapping = record->kind.is_mapping;
    end_live(record);
    if (!is_mapping) {
        page_heap_give(&record->span);
    }
    lock_give(&large.lock);
    if (is_mapping) {
        (void)unmap_block(pointer, bytes, bytes);
    }
}

size_t large_retry_unmap(void)
{
    size_t unmapped_bytes = 0;
    lock_take(&large.lock);
    struct span *refused = large.refused;
    large.refused = NULL;
    lock_give(&large.lock);
    while (refused != NULL) {
        struct large *record = (struct large *)(void *)refused;
        refused = refused->next;
        unmapped_bytes +=
            unmap_block((void *)record->span.base, record->kind.block_bytes, record->held_bytes);
    }
    return unmapped_bytes;
}

size_t large_bytes(const void *pointer)
{
    return live_record(pointer)->kind.block_bytes;
}

// Where the pages will go is known only when they are there, and then nothing may fail: so the part
// of the page map that they may need is made before.
static void *grow_pages(void *base, size_t old_bytes, size_t bytes)
{
    char *zone = page_map_reserve_zone();
    if (zone == NULL) {
        return NULL;
    }
    void *resized = os_resize(base, old_bytes, bytes);
    page_map_extend_with((uintptr_t)(resized != NULL ? resized : base), zone);
    if (resized != NULL) {
        (void)page_map_commit_records((uintptr_t)resized, 1);
        budget_add(&budget.mapped_bytes, bytes - old_bytes);
    }
    return resized;
}

static void *cut_pages(void *base, size_t old_bytes, size_t bytes)
{
    if (os_resize(base, old_bytes, bytes) == NULL) {
        return NULL;
    }
    budget_subtract(&budget.mapped_bytes, old_bytes - bytes);
    budget_uncommit(old_bytes - bytes);
    return base;
}

// A block that has a mapping keeps one, also when it becomes short.
static void *resize_mapping(void *pointer, size_t bytes)
{
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    struct large_kind kind = record->kind;
    size_t old_bytes = record->kind.block_bytes;
    bool is_allowed = bytes <= old_bytes || budget_commit(bytes - old_bytes);
    if (is_allowed) {
        end_live(record);
    }
    lock_give(&large.lock);
    if (!is_allowed) {
        return NULL;
    }
    // The block is the caller's, so nobody else looks at it now.
    void *resized = bytes > old_bytes ? grow_pages(pointer, old_bytes, bytes)
                                      : cut_pages(pointer, old_bytes, bytes);
    if (resized == NULL && bytes > old_bytes) {
        budget_subtract(&budget.committed_bytes, bytes - old_bytes);
    }
    kind.block_bytes = resized != NULL ? bytes : old_bytes;
    lock_take(&large.lock);
    make_live(resized != NULL ? resized : pointer, &kind);
    lock_give(&large.lock);
    return resized;
}

// Resizes a block's span in place.  Under the lock.
static bool resize_span(struct large *record, size_t bytes)
{
    size_t unit_count = units_of(bytes);
    if (unit_count < record->span.unit_count) {
        page_heap_shrink(&record->span, unit_count);
    } else if (unit_count > record->span.unit_count &&
               (unit_count > RUN_UNITS_MOST || !page_heap_extend(&record->span, unit_count))) {
        return false;
    }
    large.live_bytes += bytes - record->kind.block_bytes;
    record->kind.block_bytes = bytes;
    return true;
}

// Gives a long block that has no room behind it a mapping of its own: the system moves its pages there, and
// its span is clean.  NULL where the system can't or the limit forbids it; then nothing has changed.
static void *grow_by_detaching(struct large *record, size_t bytes)
{
    char *base = (char *)record->span.base;
    size_t old_bytes = span_end(&record->span) - record->span.base;
    if (!budget_commit(bytes - old_bytes)) {
        return NULL;
    }
    char *zone = page_map_reserve_zone();
    char *moved = zone != NULL ? os_detach_pages(base, old_bytes) : NULL;
    char *grown = moved != NULL ? os_resize(moved, old_bytes, bytes) : NULL;
    if (moved != NULL && grown == NULL) {
        memcpy(base, moved, old_bytes);
        os_discard(moved, old_bytes);
    }
    if (zone != NULL) {
        page_map_extend_with((uintptr_t)(grown != NULL ? grown : base), zone);
    }
    if (grown == NULL) {
        budget_subtract(&budget.committed_bytes, bytes - old_bytes);
        return NULL;
    }
    (void)page_map_commit_records((uintptr_t)grown, 1);
    budget_add(&budget.mapped_bytes, bytes);
    budget_commit_anyway(old_bytes);  // the span's are given back below
    page_heap_avoid_huge(&record->span);
    struct large_kind kind = record->kind;
    kind.block_bytes = bytes;
    kind.is_mapping = true;
    lock_take(&large.lock);
    end_live(record);
    page_heap_give_clean(&record->span);
    make_live(grown, &kind);
    lock_give(&large.lock);
    return grown;
}

static void *grow_by_copying(struct large *record, size_t bytes)
{
    void *pointer = (void *)record->span.base;
    struct large_request request = {.bytes = bytes,
                                    .align_bytes = 1,
                                    .owner_tag = page_entry_tag(record->kind.entry),
                                    .owned = record->kind.owned};
    bool is_zero = false;
    void *target = large_take(&request, &is_zero);
    if (target != NULL) {
        memcpy(target, pointer, record->kind.block_bytes);
        large_give(pointer);
    }
    return target;
}

// Grows a block that has no room behind it.
static void *move_span(struct large *record, size_t bytes)
{
    size_t old_bytes = span_end(&record->span) - record->span.base;
    void *target = old_bytes >= MOVED_PAGES_LEAST ? grow_by_detaching(record, bytes) : NULL;
    return target != NULL ? target : grow_by_copying(record, bytes);
}

void *large_resize(void *pointer, size_t bytes)
{
    bytes = max_size(align_up(bytes, os_page_bytes()), UNIT_BYTES);
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    bool is_mapping = record->kind.is_mapping;
    bool is_done = !is_mapping && resize_span(record, bytes);
    lock_give(&large.lock);
    if (is_done) {
        return pointer;
    }
    return is_mapping ? resize_mapping(pointer, bytes) : move_span(record, bytes);
}

void large_give_all(struct span **owned)
{
    while (*owned != NULL) {
        large_give((void *)(*owned)->base);
    }
}

void large_read_figures(struct large_figures *figures)
{
    lock_take(&large.lock);
    figures->live_bytes = large.live_bytes;
    figures->live_count = large.live_count;
    lock_give(&large.lock);
}

void large_lock(void)
{
    lock_take(&large.lock);
}

void large_unlock(void)
{
    lock_give(&large.lock);
}
