// SPDX-License-Identifier: MIT
#include "backend/large.h"

#include "backend/backend.h"
#include "backend/fence.h"
#include "backend/large_place.h"
#include "base/bits.h"
#include "harden/trailer.h"
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
    size_t block_bytes;  // up to the end of its pages
    size_t slack_bytes;  // of them, not usable: in a hardened process
    struct span **owned;
    page_entry entry;    // what the page map says while the block is live
    uint8_t place;       // enum large_place
    uint8_t block_kind;  // enum block_kind
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

static void fill_slack(char *base, const struct large_kind *kind)
{
    if (kind->slack_bytes != 0) {
        slack_fill(base, kind->block_bytes, kind->slack_bytes);
    }
}

static size_t units_of(size_t bytes)
{
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
}

// The pages of a block that is no span.  It begins in the first one.
static struct large_pages pages_of(const void *base, const struct large_kind *kind)
{
    size_t lead_bytes = (uintptr_t)base & (os_page_bytes() - 1);
    return (struct large_pages){.start = (char *)(uintptr_t)base - lead_bytes,
                                .bytes = kind->block_bytes + lead_bytes,
                                .place = (enum large_place)kind->place};
}

// Takes pages of their own; returns where in them the block begins, as near to the end as its alignment
// allows where guards follow.  Fills in where it is.
static void *take_pages(struct large_kind *kind, enum large_place place, size_t bytes,
                        size_t align_bytes)
{
    size_t page_bytes = os_page_bytes();
    struct large_pages pages = {.bytes = align_up(bytes, page_bytes), .place = place};
    if (place == PLACE_MAPPING) {
        pages.bytes = max_size(pages.bytes, UNIT_BYTES);
        bytes = pages.bytes;
    }
    if (!large_pages_take(&pages, max_size(align_bytes, page_bytes))) {
        return NULL;
    }
    kind->place = (uint8_t)place;
    kind->block_bytes = align_up(bytes, max_size(min_size(align_bytes, page_bytes), 16));
    return pages.start + pages.bytes - kind->block_bytes;
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
    kind->place = PLACE_SPAN;
    kind->block_bytes = bytes;
    *is_zero = !span->is_dirty;
    return (void *)span->base;
}

// In a hardened process a block's usable bytes are those that were asked for.
static void arm(struct large_kind *kind, const struct large_request *request)
{
    kind->block_kind = (uint8_t)request->kind;
    if (harden_pads()) {
        kind->slack_bytes = kind->block_bytes - request->bytes;
    }
}

static void *take_mapping(struct large_kind *kind, size_t bytes, size_t align_bytes, bool *is_zero)
{
    *is_zero = true;
    return take_pages(kind, PLACE_MAPPING, bytes, align_bytes);
}

// A place for a block of whole pages, in a process that isn't hardened.  Each is the other's stand-by: a
// span may be free where nothing can be mapped, and where address space is short the system may have room
// for the block but not for an arena.
static void *take_plain(struct large_kind *kind, size_t bytes, size_t align_bytes, bool *is_zero)
{
    bool is_long = bytes + align_bytes > SPAN_BYTES_MOST;
    void *base = is_long ? take_mapping(kind, bytes, align_bytes, is_zero)
                         : take_span(kind, bytes, align_bytes, is_zero);
    if (base == NULL) {
        base = is_long ? take_span(kind, bytes, align_bytes, is_zero)
                       : take_mapping(kind, bytes, align_bytes, is_zero);
    }
    return base;
}

static void *take_place(struct large_kind *kind, const struct large_request *request, bool *is_zero)
{
    size_t page_bytes = os_page_bytes();
    size_t bytes = align_up(max_size(request->bytes, 1), page_bytes);
    size_t align_bytes = max_size(request->align_bytes, page_bytes);
    void *base = NULL;
    if (request->is_sample) {
        *is_zero = true;
        return take_pages(kind, PLACE_SLOT, max_size(request->bytes, 1), request->align_bytes);
    }
    if (bytes >> ADDRESS_BITS != 0 || bytes < request->bytes || align_bytes >> ADDRESS_BITS != 0) {
        return NULL;
    }
    // A shorter one might begin in the unit of another.
    if (harden_is_on() && request->bytes >= UNIT_BYTES) {
        *is_zero = true;
        base = take_pages(kind, PLACE_FENCED, request->bytes, request->align_bytes);
    }
    return base != NULL ? base : take_plain(kind, bytes, align_bytes, is_zero);
}

void *large_take(const struct large_request *request, bool *is_zero)
{
    struct large_kind kind = {.owned = request->owned,
                              .entry = page_entry_make(request->owner_tag, LARGE_CLASS)};
    void *base = take_place(&kind, request, is_zero);
    if (base != NULL) {
        arm(&kind, request);
        lock_take(&large.lock);
        make_live(base, &kind);
        lock_give(&large.lock);
        // Behind the lock, which whoever had a block here before has taken to end it.
        fill_slack(base, &kind);
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

// Returns the bytes that were unmapped.
static size_t give_pages(const struct large_pages *pages, size_t committed_bytes)
{
    size_t held_bytes = 0;
    if (large_pages_give(pages, committed_bytes, &held_bytes)) {
        return pages->bytes;
    }
    keep_refused(pages->start, pages->bytes, held_bytes);
    return 0;
}

void large_give(void *pointer)
{
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    struct large_pages pages = pages_of(pointer, &record->kind);
    end_live(record);
    if (pages.place == PLACE_SPAN) {
        page_heap_give(&record->span);
    }
    lock_give(&large.lock);
    if (pages.place != PLACE_SPAN) {
        (void)give_pages(&pages, pages.bytes);
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
        struct large_pages pages = {
            .start = (char *)record->span.base, record->kind.block_bytes, PLACE_MAPPING};
        unmapped_bytes += give_pages(&pages, record->held_bytes);
    }
    return unmapped_bytes;
}

size_t large_bytes(const void *pointer)
{
    return large_look(pointer).usable_bytes;
}

struct large_view large_look(const void *pointer)
{
    const struct large_kind *kind = &live_record(pointer)->kind;
    return (struct large_view){.usable_bytes = kind->block_bytes - kind->slack_bytes,
                               .most_bytes = kind->block_bytes,
                               .kind = (enum block_kind)kind->block_kind};
}

void large_set_usable(void *pointer, size_t bytes)
{
    struct large_kind *kind = &live_record(pointer)->kind;
    kind->slack_bytes = kind->block_bytes - bytes;
    fill_slack(pointer, kind);
}

void large_set_kind(void *pointer, enum block_kind kind)
{
    live_record(pointer)->kind.block_kind = (uint8_t)kind;
}

void large_clear(void *pointer)
{
    const struct large *record = live_record(pointer);
    if (record->kind.place == PLACE_SPAN) {
        memset(pointer, 0, record->kind.block_bytes);
    }
}

// A block that has pages of its own keeps them, also when it becomes short.
static void *resize_pages(void *pointer, size_t bytes)
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
    struct large_pages pages = pages_of(pointer, &kind);
    size_t lead_bytes = (size_t)((char *)pointer - pages.start);
    bool is_done = large_pages_resize(&pages, bytes + lead_bytes);
    if (!is_done && bytes > old_bytes) {
        budget_subtract(&budget.committed_bytes, bytes - old_bytes);
    }
    void *resized = pages.start + lead_bytes;
    kind.block_bytes = pages.bytes - lead_bytes;
    kind.slack_bytes = is_done ? 0 : kind.slack_bytes;
    kind.place = (uint8_t)pages.place;
    lock_take(&large.lock);
    make_live(resized, &kind);
    lock_give(&large.lock);
    return is_done ? resized : NULL;
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
    record->kind.slack_bytes = 0;
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
    kind.slack_bytes = 0;
    kind.place = PLACE_MAPPING;
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
                                    .owned = record->kind.owned,
                                    .kind = (enum block_kind)record->kind.block_kind};
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
    size_t page_bytes = os_page_bytes();
    size_t lead_bytes = (uintptr_t)pointer & (page_bytes - 1);
    bytes = max_size(align_up(bytes + lead_bytes, page_bytes), UNIT_BYTES) - lead_bytes;
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    enum large_place place = (enum large_place)record->kind.place;
    bool is_done = place == PLACE_SPAN && resize_span(record, bytes);
    lock_give(&large.lock);
    if (is_done) {
        return pointer;
    }
    if (place == PLACE_SLOT) {
        return grow_by_copying(record, bytes);
    }
    return place == PLACE_SPAN ? move_span(record, bytes) : resize_pages(pointer, bytes);
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
    fence_lock();
}

void large_unlock(void)
{
    fence_unlock();
    lock_give(&large.lock);
}
