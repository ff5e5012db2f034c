// SPDX-License-Identifier: MIT
#include "thread/heap_registry.h"

#include "backend/backend.h"
#include "backend/backend_purge.h"
#include "backend/large.h"
#include "os/os_process.h"
#include "region/page_heap.h"
#include "region/record_pool.h"
#include "thread/batch.h"
#include "thread/bin.h"

enum {
    PAGE_SHIFT = 9,
    HEAPS_PER_PAGE = 1 << PAGE_SHIFT,
    PAGE_COUNT = ENTRY_TAG_COUNT >> PAGE_SHIFT,
    STEAL_TRIES = 4,  // parked heaps looked at for one slab
};

// The heaps of neighbouring tags, and their locks: side by side, so that a fork writes to few pages (300
// heaps' own made it three times as slow), but none in another's cache line.
struct heap_page {
    _Atomic(struct heap *) heaps[HEAPS_PER_PAGE];
    struct {
        _Alignas(64) struct lock lock;
    } locks[HEAPS_PER_PAGE];
};

// Guarded by registry.lock, except pages and count: a page is published with release before the
// heaps in it, each heap's slot before a block of it exists, and count after the slot; readers use
// acquire (heap_registry_lookup, heap_registry_count).
static struct {
    struct lock lock;
    _Atomic(struct heap_page *) pages[PAGE_COUNT];
    _Atomic uint32_t count;
    struct heap *parked;
    struct heap *unused_shared;
    struct heap *spare_heaps;      // records of heaps that were not made in the end
    struct heap_page *spare_page;  // likewise
    _Atomic uint32_t parked_count;
    _Atomic(struct heap *) lanes[LANE_COUNT_MOST];  // each published with release
} registry;

struct heap *heap_registry_lookup(uint32_t owner_tag)
{
    struct heap_page *page =
        atomic_load_explicit(&registry.pages[owner_tag >> PAGE_SHIFT], memory_order_acquire);
    return page == NULL ? NULL
                        : atomic_load_explicit(&page->heaps[owner_tag & (HEAPS_PER_PAGE - 1)],
                                               memory_order_acquire);
}

uint32_t heap_registry_count(void)
{
    return atomic_load_explicit(&registry.count, memory_order_acquire);
}

uint32_t heap_registry_parked_count(void)
{
    return atomic_load_explicit(&registry.parked_count, memory_order_relaxed);
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

// What a heap needs, taken before the lock: the system may be asked for memory.
struct heap_records {
    struct heap *heap;
    struct heap_page *page;  // where the next tag needs one
};

static bool has_page(uint32_t owner_tag)
{
    return atomic_load_explicit(&registry.pages[owner_tag >> PAGE_SHIFT], memory_order_relaxed) !=
           NULL;
}

// What is not needed in the end goes into the registry's store.  Under the lock.
static void keep_records(struct heap_records *records)
{
    if (records->heap != NULL) {
        records->heap->next = registry.spare_heaps;
        registry.spare_heaps = records->heap;
    }
    if (records->page != NULL) {
        registry.spare_page = records->page;
    }
}

static struct heap_records take_records(void)
{
    struct heap_records records = {NULL, NULL};
    lock_take(&registry.lock);
    bool needs_page = !has_page(heap_registry_count() + 1);
    if (registry.spare_heaps != NULL) {
        records.heap = registry.spare_heaps;
        registry.spare_heaps = records.heap->next;
    }
    if (needs_page) {
        records.page = registry.spare_page;
        registry.spare_page = NULL;
    }
    lock_give(&registry.lock);
    if (records.heap == NULL) {
        records.heap = record_take(sizeof(struct heap));
    }
    if (needs_page && records.page == NULL) {
        records.page = record_take(sizeof(struct heap_page));
    }
    return records;
}

static void init_heap(struct heap *heap, uint32_t tag, enum heap_kind kind)
{
    heap->next = NULL;
    heap->kind = (uint8_t)kind;
    heap->owner_tag = tag;
    heap->match_tag = kind == HEAP_THREAD ? page_entry_make(tag, 0) : MATCH_NOTHING;
    heap->slabs.tag = page_entry_make(tag, 0);
    bin_init(heap);
    heap->link_key = mix(os_random_seed() + tag * 0x9e3779b97f4a7c15u);
}

// Makes a heap of the records, or returns NULL.  Under the lock.
static struct heap *make_heap(struct heap_records *records, enum heap_kind kind)
{
    uint32_t tag = heap_registry_count() + 1;
    _Atomic(struct heap_page *) *slot = &registry.pages[tag >> PAGE_SHIFT];
    if (!has_page(tag) && records->page != NULL) {
        // Pairs with the acquire load in heap_registry_lookup.
        atomic_store_explicit(slot, records->page, memory_order_release);
        records->page = NULL;
    }
    struct heap *heap = records->heap;
    if (heap == NULL || tag > OWNER_TAG_MOST || !has_page(tag)) {
        return NULL;
    }
    records->heap = NULL;
    init_heap(heap, tag, kind);
    struct heap_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t index = tag & (HEAPS_PER_PAGE - 1);
    heap->slabs.lock = &page->locks[index].lock;
    // Pairs with the acquire load in heap_registry_lookup.
    atomic_store_explicit(&page->heaps[index], heap, memory_order_release);
    atomic_store_explicit(&registry.count, tag, memory_order_release);
    return heap;
}

// A heap out of a list, or NULL.  Under the lock.
static struct heap *pop_heap(struct heap **list)
{
    struct heap *heap = *list;
    if (heap != NULL) {
        *list = heap->next;
    }
    return heap;
}

static struct heap *pop_parked(void)
{
    struct heap *heap = pop_heap(&registry.parked);
    if (heap != NULL) {
        atomic_fetch_sub_explicit(&registry.parked_count, 1, memory_order_relaxed);
        atomic_store_explicit(&heap->is_parked, false, memory_order_relaxed);
    }
    return heap;
}

struct heap *heap_registry_adopt(void)
{
    lock_take(&registry.lock);
    struct heap *heap = pop_parked();
    lock_give(&registry.lock);
    if (heap == NULL) {
        struct heap_records records = take_records();
        lock_take(&registry.lock);
        heap = make_heap(&records, HEAP_THREAD);
        keep_records(&records);
        lock_give(&registry.lock);
    }
    return heap;
}

static void push_parked(struct heap *heap)
{
    heap->next = registry.parked;
    registry.parked = heap;
    atomic_fetch_add_explicit(&registry.parked_count, 1, memory_order_relaxed);
    atomic_store_explicit(&heap->is_parked, true, memory_order_relaxed);
}

void heap_registry_park(struct heap *heap)
{
    lock_take(&registry.lock);
    push_parked(heap);
    lock_give(&registry.lock);
}

struct heap *heap_registry_take_shared(void)
{
    lock_take(&registry.lock);
    struct heap *heap = pop_heap(&registry.unused_shared);
    lock_give(&registry.lock);
    if (heap == NULL) {
        struct heap_records records = take_records();
        lock_take(&registry.lock);
        heap = make_heap(&records, HEAP_SHARED);
        keep_records(&records);
        lock_give(&registry.lock);
    }
    if (heap != NULL) {
        heap->is_unused = false;
    }
    return heap;
}

void heap_registry_give_shared(struct heap *heap)
{
    lock_take(&registry.lock);
    heap->is_unused = true;
    heap->next = registry.unused_shared;
    registry.unused_shared = heap;
    lock_give(&registry.lock);
}

struct heap *heap_registry_find_lane(unsigned index)
{
    // Acquire: pairs with the release store in heap_registry_lane.
    return atomic_load_explicit(&registry.lanes[index], memory_order_acquire);
}

struct heap *heap_registry_lane(unsigned cpu_index)
{
    unsigned index = cpu_index % LANE_COUNT_MOST;
    struct heap *lane = heap_registry_find_lane(index);
    if (likely(lane != NULL)) {
        return lane;
    }
    struct heap_records records = take_records();
    lock_take(&registry.lock);
    lane = heap_registry_find_lane(index);
    if (lane == NULL) {
        lane = make_heap(&records, HEAP_LANE);
        // Release: pairs with the acquire load in heap_registry_find_lane.
        atomic_store_explicit(&registry.lanes[index], lane, memory_order_release);
    }
    keep_records(&records);
    lock_give(&registry.lock);
    return lane;
}

// The registry's lock is held throughout, so that a fork can't come between a slab's leaving one
// owner and its reaching the other, and so that the parked heap stays parked.
bool heap_registry_steal(struct heap *heap, class_id cls)
{
    bool (*move)(struct slab_owner *, struct slab_owner *, class_id) =
        backend_table[route_backend(cls)].move;
    if (move == NULL || heap_registry_parked_count() == 0 || !lock_try(&registry.lock)) {
        return false;
    }
    bool is_found = false;
    struct heap *parked = registry.parked;
    for (int i = 0; i < STEAL_TRIES && parked != NULL && !is_found; i++, parked = parked->next) {
        is_found = !parked->is_orphan && move(&parked->slabs, &heap->slabs, cls);
    }
    lock_give(&registry.lock);
    return is_found;
}

void heap_registry_lock_all(void)
{
    lock_take(&registry.lock);
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        lock_take(heap_registry_lookup(tag)->slabs.lock);
    }
    large_lock();
    page_heap_lock();
    batch_pool_lock();
    page_map_lock();
    record_pool_lock();
}

void heap_registry_unlock_all(void)
{
    record_pool_unlock();
    page_map_unlock();
    batch_pool_unlock();
    page_heap_unlock();
    large_unlock();
    for (uint32_t tag = heap_registry_count(); tag >= 1; tag--) {
        lock_give(heap_registry_lookup(tag)->slabs.lock);
    }
    lock_give(&registry.lock);
}

// The other threads are gone; what their heaps hold is as they left it at the fork.  Their stocks
// stay in their bins until a thread adopts the heap: flushing them here would copy their pages.
void heap_registry_after_fork_in_child(struct heap *mine)
{
    page_heap_after_fork_in_child();
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        struct heap *heap = heap_registry_lookup(tag);
        backend_purge_forget(&heap->slabs);
        bool is_parked = atomic_load_explicit(&heap->is_parked, memory_order_relaxed);
        if (heap->kind == HEAP_THREAD && heap != mine && !is_parked) {
            heap->is_orphan = true;
            push_parked(heap);
        }
    }
}
