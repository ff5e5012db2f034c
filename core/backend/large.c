// SPDX-License-Identifier: MIT
#include "backend/large.h"

#include "base/bits.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "os/os_thread.h"
#include "stats/budget.h"

#include <string.h>

enum {
    CACHE_BIN_COUNT = 4 * 24,
    CACHE_SLACK_SHIFT = 3,  // a cached block may be longer than asked by an eighth
    MAPPINGS_MOST = 400,    // above: freed runs are purged but stay mapped, to bound the mappings
};

// The record of the unit in which a large block begins.
struct large {
    struct span span;     // base: the exact start; next and prev: the owner's list or a cache bin
    size_t mapped_bytes;  // of the run
    struct span **owned;
    page_entry entry;  // what the page map says while the block is live
    bool is_clean;     // in the cache: purged, so it reads as zero
};

_Static_assert(sizeof(struct large) <= UNIT_RECORD_BYTES, "a large block is the record of a unit");

// Guarded by large.lock.
static struct {
    struct lock lock;
    struct span *cache[2][CACHE_BIN_COUNT];  // [is_clean], by length, four bins a doubling
    size_t cached_bytes;                     // of the dirty ones
    size_t live_bytes;
    size_t live_count;
    size_t mapping_count;    // live and cached
    struct span *under_way;  // out of the cache while they are purged
} large;

static struct large *record_of(const void *pointer)
{
    return (struct large *)(void *)span_of_unit((uintptr_t)pointer);
}

static size_t cache_bin(size_t bytes)
{
    size_t pages = bytes >> 12;
    unsigned shift = log2_floor(pages);
    size_t bin = shift < 2 ? pages : shift * 4 + ((pages >> (shift - 2)) & 3);
    return min_size(bin, CACHE_BIN_COUNT - 1);
}

static void set_entry(const struct large *record, page_entry entry)
{
    page_map_set(align_down(record->span.base, UNIT_BYTES), 1, entry);
}

// Marks a record as a live block.  Under the lock.
static void make_live(struct large *record, const struct large_request *request)
{
    record->owned = request->owned;
    record->entry = page_entry_make(request->owner_tag, LARGE_CLASS);
    if (record->owned != NULL) {
        span_list_push(record->owned, &record->span);
    }
    large.live_bytes += record->mapped_bytes;
    large.live_count++;
    set_entry(record, record->entry);
}

// Ends a live block: its entry says from here on that it was freed.  Under the lock.
static void end_live(struct large *record)
{
    set_entry(record, page_entry_make(FREED_TAG, LARGE_CLASS));
    if (record->owned != NULL) {
        span_list_remove(record->owned, &record->span);
    }
    large.live_bytes -= record->mapped_bytes;
    large.live_count--;
}

static void cache_remove(struct large *record)
{
    span_list_remove(&large.cache[record->is_clean][cache_bin(record->mapped_bytes)],
                     &record->span);
    if (!record->is_clean) {
        large.cached_bytes -= record->mapped_bytes;
        budget_subtract(&budget.dirty_bytes, record->mapped_bytes);
    }
}

static void cache_insert(struct large *record, bool is_clean)
{
    record->is_clean = is_clean;
    span_list_push(&large.cache[is_clean][cache_bin(record->mapped_bytes)], &record->span);
    if (!is_clean) {
        large.cached_bytes += record->mapped_bytes;
        budget_add(&budget.dirty_bytes, record->mapped_bytes);
    }
}

// A cached run of `bytes` or a little more, taken out of the cache, or NULL.  Under the lock.
static struct large *cache_take(size_t bytes, size_t align_bytes, bool is_clean)
{
    size_t bytes_most = bytes + (is_clean ? bytes : bytes >> CACHE_SLACK_SHIFT);
    for (size_t bin = cache_bin(bytes); bin <= cache_bin(bytes_most); bin++) {
        for (struct span *span = large.cache[is_clean][bin]; span != NULL; span = span->next) {
            struct large *record = (struct large *)(void *)span;
            if (record->mapped_bytes >= bytes && record->mapped_bytes <= bytes_most &&
                (span->base & (align_bytes - 1)) == 0) {
                cache_remove(record);
                return record;
            }
        }
    }
    return NULL;
}

static void *map_fresh(size_t bytes, size_t align_bytes)
{
    char *base = os_map(bytes, align_bytes);
    if (base == NULL) {
        return NULL;
    }
    if (!page_map_extend((uintptr_t)base, 1)) {
        (void)os_unmap(base, bytes);
        return NULL;
    }
    budget_add(&budget.mapped_bytes, bytes);
    return base;
}

// Makes a cached run a live block again; NULL when there is none that fits.
static struct large *take_cached(const struct large_request *request, size_t bytes,
                                 size_t align_bytes)
{
    lock_take(&large.lock);
    struct large *record = cache_take(bytes, align_bytes, false);
    if (record == NULL && (record = cache_take(bytes, align_bytes, true)) != NULL &&
        !budget_commit(record->mapped_bytes)) {
        cache_insert(record, true);
        record = NULL;
    }
    if (record != NULL) {
        make_live(record, request);
    }
    lock_give(&large.lock);
    return record;
}

// Makes the run at `base` a live block.  Under the lock.
static void record_live(void *base, size_t bytes, const struct large_request *request)
{
    struct large *record = record_of(base);
    page_map_count_records((uintptr_t)base, 1);
    record->span.base = (uintptr_t)base;
    record->mapped_bytes = bytes;
    make_live(record, request);
}

// Maps a run and makes it a live block.
static void *take_fresh(const struct large_request *request, size_t bytes, size_t align_bytes)
{
    if (!budget_commit(bytes)) {
        return NULL;
    }
    void *base = map_fresh(bytes, align_bytes);
    if (base == NULL) {
        budget_subtract(&budget.committed_bytes, bytes);
        return NULL;
    }
    lock_take(&large.lock);
    large.mapping_count++;
    record_live(base, bytes, request);
    lock_give(&large.lock);
    return base;
}

void *large_take(const struct large_request *request, bool *is_zero)
{
    size_t page_bytes = os_page_bytes();
    size_t bytes = align_up(request->bytes, page_bytes);
    size_t align_bytes = max_size(request->align_bytes, page_bytes);
    if (bytes >> ADDRESS_BITS != 0 || bytes < request->bytes) {
        return NULL;
    }
    // At most one large block may begin in a unit.
    bytes = max_size(bytes, UNIT_BYTES);
    struct large *record = take_cached(request, bytes, align_bytes);
    *is_zero = record == NULL || record->is_clean;
    return record != NULL ? (void *)record->span.base : take_fresh(request, bytes, align_bytes);
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
            die_misuse("double free", pointer, record->mapped_bytes);
        }
    }
    die_misuse("free", pointer, 0);
}

void large_give(void *pointer)
{
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    end_live(record);
    cache_insert(record, false);
    lock_give(&large.lock);
}

size_t large_bytes(const void *pointer)
{
    return live_record(pointer)->mapped_bytes;
}

// The longest run of a kind, out of the cache and on the list of runs under way, or NULL.  Under the
// lock.
static struct large *take_longest(bool is_clean)
{
    for (size_t bin = CACHE_BIN_COUNT; bin-- > 0;) {
        if (large.cache[is_clean][bin] != NULL) {
            struct large *record = (struct large *)(void *)large.cache[is_clean][bin];
            cache_remove(record);
            span_list_push(&large.under_way, &record->span);
            return record;
        }
    }
    return NULL;
}

// The end of take_longest for a run that stays mapped; `uncommitted_bytes` of it were purged.
static void put_back(struct large *record, bool is_clean, size_t uncommitted_bytes)
{
    lock_take(&large.lock);
    span_list_remove(&large.under_way, &record->span);
    budget_uncommit(uncommitted_bytes);
    cache_insert(record, is_clean);
    lock_give(&large.lock);
}

// The record is off the list, and the run out of the sums, before it is unmapped: its unit may have a
// new run at once, and a fork must find the sums right.  On failure all is as before.
static bool unmap_run(struct large *record, size_t committed_bytes)
{
    void *base = (void *)record->span.base;
    size_t bytes = record->mapped_bytes;
    lock_take(&large.lock);
    span_list_remove(&large.under_way, &record->span);
    large.mapping_count--;
    budget_subtract(&budget.mapped_bytes, bytes);
    budget_uncommit(committed_bytes);
    lock_give(&large.lock);
    if (os_unmap(base, bytes) == 0) {
        return true;
    }
    lock_take(&large.lock);
    large.mapping_count++;
    budget_add(&budget.mapped_bytes, bytes);
    budget_commit_anyway(committed_bytes);
    span_list_push(&large.under_way, &record->span);
    lock_give(&large.lock);
    return false;
}

// One run is unmapped, or purged where that fails or would leave too many mappings.
static size_t purge_one(size_t keep_bytes)
{
    lock_take(&large.lock);
    struct large *record = large.cached_bytes > keep_bytes ? take_longest(false) : NULL;
    bool is_unmapping = large.mapping_count <= MAPPINGS_MOST;
    size_t bytes = record != NULL ? record->mapped_bytes : 0;
    lock_give(&large.lock);
    if (record == NULL) {
        return 0;
    }
    if (is_unmapping && unmap_run(record, bytes)) {
        return bytes;
    }
    bool is_purged = os_purge((void *)record->span.base, bytes) == 0;
    if (!is_purged && !is_unmapping && unmap_run(record, bytes)) {
        return bytes;  // one mapping more, rather than memory that never goes back
    }
    put_back(record, is_purged, is_purged ? bytes : 0);
    return is_purged ? bytes : 0;
}

static size_t unmap_one_clean(void)
{
    lock_take(&large.lock);
    struct large *record = take_longest(true);
    size_t bytes = record != NULL ? record->mapped_bytes : 0;
    lock_give(&large.lock);
    if (record != NULL && !unmap_run(record, 0)) {
        put_back(record, true, 0);
        return 0;
    }
    return bytes;
}

size_t large_unmap_clean(void)
{
    size_t unmapped_bytes = 0;
    for (size_t bytes = unmap_one_clean(); bytes != 0; bytes = unmap_one_clean()) {
        unmapped_bytes += bytes;
    }
    return unmapped_bytes;
}

size_t large_purge(size_t keep_bytes)
{
    size_t purged_bytes = 0;
    for (size_t bytes = purge_one(keep_bytes); bytes != 0; bytes = purge_one(keep_bytes)) {
        purged_bytes += bytes;
    }
    return purged_bytes;
}

// Where the pages will go is known only when they are there, and then nothing may fail: so the part
// of the page map that they may need is made before.
static void *resize_pages(void *base, size_t old_bytes, size_t bytes)
{
    char *zone = page_map_reserve_zone();
    if (zone == NULL) {
        return NULL;
    }
    void *resized = os_resize(base, old_bytes, bytes);
    page_map_extend_with((uintptr_t)(resized != NULL ? resized : base), zone);
    if (resized == NULL) {
        return NULL;
    }
    if (bytes > old_bytes) {
        budget_add(&budget.mapped_bytes, bytes - old_bytes);
    } else {
        budget_subtract(&budget.mapped_bytes, old_bytes - bytes);
        budget_uncommit(old_bytes - bytes);
    }
    return resized;
}

// Grows a block into a cached run, whose pages are resident, by copying: dearer than moving pages, but
// cheaper than the faults on as many fresh ones.  NULL when there is no run that fits.
static void *grow_into_cache(void *pointer, size_t bytes)
{
    lock_take(&large.lock);
    struct large *old = live_record(pointer);
    size_t old_bytes = old->mapped_bytes;
    struct large *record = bytes - old_bytes >= old_bytes / 2 ? cache_take(bytes, 1, false) : NULL;
    if (record != NULL) {
        struct large_request request = {.owner_tag = page_entry_tag(old->entry),
                                        .owned = old->owned};
        make_live(record, &request);
    }
    lock_give(&large.lock);
    if (record == NULL) {
        return NULL;
    }
    void *base = (void *)record->span.base;
    memcpy(base, pointer, old_bytes);
    large_give(pointer);
    return base;
}

void *large_resize(void *pointer, size_t bytes)
{
    void *grown = bytes > large_bytes(pointer) ? grow_into_cache(pointer, bytes) : NULL;
    if (grown != NULL) {
        return grown;
    }
    lock_take(&large.lock);
    struct large *record = live_record(pointer);
    struct large_request request = {.owner_tag = page_entry_tag(record->entry),
                                    .owned = record->owned};
    size_t old_bytes = record->mapped_bytes;
    bytes = align_up(bytes, os_page_bytes());
    bool is_allowed = bytes <= old_bytes || budget_commit(bytes - old_bytes);
    if (is_allowed) {
        end_live(record);
    }
    lock_give(&large.lock);
    if (!is_allowed) {
        return NULL;
    }
    // The block is the caller's, so nobody else looks at it now.
    void *resized = resize_pages(pointer, old_bytes, bytes);
    if (resized == NULL && bytes > old_bytes) {
        budget_subtract(&budget.committed_bytes, bytes - old_bytes);
    }
    void *base = resized != NULL ? resized : pointer;
    lock_take(&large.lock);
    record_live(base, resized != NULL ? bytes : old_bytes, &request);
    lock_give(&large.lock);
    return resized;
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
    figures->cached_bytes = large.cached_bytes;
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

// Whether it was purged yet isn't known: it counts as dirty.
void large_after_fork_in_child(void)
{
    while (large.under_way != NULL) {
        put_back((struct large *)(void *)large.under_way, false, 0);
    }
}
