// SPDX-License-Identifier: MIT
#include "thread/heap.h"

#include "backend/backend.h"
#include "backend/backend_purge.h"
#include "backend/glibc_heap.h"
#include "backend/large.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "stats/budget.h"
#include "thread/batch.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/lane.h"
#include "thread/process.h"
#include "thread/quarantine.h"
#include "thread/remote_free.h"

static struct lock no_heaps_lock;
struct heap heap_before_start = {.match_tag = MATCH_NOTHING, .slabs = {.lock = &no_heaps_lock}};
struct heap heap_after_exit = {.match_tag = MATCH_NOTHING, .slabs = {.lock = &no_heaps_lock}};
struct heap *heap_pool;
struct heap *heap_exit;

_Thread_local struct heap *thread_heap = &heap_before_start;

// A fork stopped the heap's thread anywhere, so what it wrote in several steps may be half done.
static HAK_COLD void repair_orphan(struct heap *heap)
{
    bin_repair(heap);
    batch_repair(heap);
    remote_free_flush(heap);
    heap->is_orphan = false;
}

static struct heap *take_heap(void)
{
    struct heap *heap = process_start() ? heap_registry_adopt() : NULL;
    if (heap != NULL) {
        thread_heap = heap;
        if (heap->is_orphan) {
            repair_orphan(heap);
        }
        process_settle(heap);
        process_watch_thread(heap);
    }
    return heap;
}

struct heap *heap_attach(void)
{
    struct heap *heap = thread_heap;
    if (heap == &heap_before_start) {
        return take_heap();
    }
    if (heap != &heap_after_exit) {
        process_settle(heap);
    }
    return heap;
}

void heap_draw_guard(struct heap *heap)
{
    uint64_t rate = gates.guard_rate;
    if (rate == 0) {
        return;
    }
    heap->guard_random = heap->guard_random * 6364136223846793005u + (heap->link_key | 1);
    heap->guard_left = (uint32_t)(1 + (heap->guard_random >> 33) % (2 * rate - 1));
}

void *heap_shared_take(struct heap *heap, class_id cls)
{
    void *block = NULL;
    return backend_refill(BACKEND_POOL, &heap->slabs, cls, &block, 1) != 0 ? block : NULL;
}

void heap_give_unknown(void *pointer)
{
    if (!glibc_heap_give(pointer)) {
        backend_die_unknown(pointer);
    }
}

// The owner may change until its lock is held, so the entry is read again under it.
void heap_give_locked(void *block)
{
    for (;;) {
        page_entry entry = page_map_lookup(block);
        unsigned cls = page_entry_class(entry);
        struct heap *owner = heap_registry_lookup(page_entry_tag(entry));
        if (owner == NULL || cls == 0 || cls >= CLASS_COUNT) {
            backend_die_unknown(block);
        }
        lock_take(owner->slabs.lock);
        bool is_owner = page_map_lookup(block) == entry;
        if (is_owner) {
            backend_flush(&owner->slabs, &block, 1);
        }
        lock_give(owner->slabs.lock);
        if (is_owner) {
            heap_purge_if_due(owner);
            return;
        }
    }
}

struct heap *heap_create_shared(void)
{
    return process_start() ? heap_registry_take_shared() : NULL;
}

void heap_destroy_shared(struct heap *heap)
{
    large_give_all(&heap->owned_large);
    lock_take(heap->slabs.lock);
    while (heap->slabs.is_purging) {
        lock_give(heap->slabs.lock);
        os_thread_yield();
        lock_take(heap->slabs.lock);
    }
    slab_release_all(&heap->slabs);
    lock_give(heap->slabs.lock);
    heap_purge_if_due(heap);
    heap_registry_give_shared(heap);
}

void heap_flush(struct heap *heap)
{
    if (heap->kind != HEAP_THREAD) {
        return;
    }
    quarantine_flush(heap);
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (heap->bins.limit[cls] != 0) {
            bin_empty(heap, (class_id)cls);
        }
    }
    bin_flush_collector(heap);
    lane_flush(heap);
    remote_free_flush(heap);
    remote_free_empty_mailbox(heap, NULL);
}

static size_t purge_pages(size_t keep_bytes)
{
    (void)os_unmap_discarded();
    return large_retry_unmap() + page_heap_purge(keep_bytes);
}

void heap_purge_if_due(struct heap *heap)
{
    size_t dirty_bytes = budget_read(&budget.dirty_bytes);
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    size_t live_bytes = committed_bytes > dirty_bytes ? committed_bytes - dirty_bytes : 0;
    size_t limit = gate_live(&gates.dirty_limit) + live_bytes / 100 * gate_live(&gates.dirty_share);
    size_t refused_bytes = min_size(budget_read(&budget.refused_bytes), dirty_bytes);
    if (unlikely(dirty_bytes - refused_bytes > limit)) {
        (void)purge_pages(limit - limit / 4);
    }
    // A slab with purged pages that was given back counts as whole: under a heap limit, as resident
    // as the limit allows.
    size_t heap_limit = budget_read(&budget.limit_bytes);
    if (unlikely(heap_limit != 0 && committed_bytes > heap_limit)) {
        size_t excess_bytes = committed_bytes - heap_limit;
        (void)purge_pages(dirty_bytes - min_size(excess_bytes, dirty_bytes));
    }
    if (unlikely(backend_purge_is_due(&heap->slabs))) {
        (void)backend_purge_down_to(&heap->slabs, backend_purge_allowance(&heap->slabs));
    }
}

size_t heap_purge_all(size_t keep_bytes)
{
    size_t bytes = 0;
    struct heap *self = thread_heap->kind == HEAP_THREAD ? thread_heap : NULL;
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        struct heap *heap = heap_registry_lookup(tag);
        remote_free_empty_mailbox(heap, heap != self ? self : NULL);
        bytes += backend_purge(&heap->slabs);
    }
    return bytes + purge_pages(keep_bytes);
}
