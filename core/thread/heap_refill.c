// SPDX-License-Identifier: MIT
#include "thread/heap_refill.h"

#include "backend/backend.h"
#include "thread/bin.h"
#include "thread/control.h"
#include "thread/heap_registry.h"
#include "thread/lane.h"
#include "thread/quarantine.h"
#include "thread/remote_free.h"

enum {
    REFILL_COUNT_MOST = 256
};

// A block that other threads have sent back, or NULL.
static void *take_returned(struct heap *heap, class_id cls)
{
    if (!remote_free_has_mail(heap)) {
        return NULL;
    }
    remote_free_empty_mailbox(heap, heap);
    return bin_pop_slow(heap, cls);
}

// The routes have changed: classes that come from lanes keep no bins, and all others no stock of lane
// blocks.
static HAK_COLD void follow_routes(struct heap *heap)
{
    heap->route_version = route_version();
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        if (route_backend((class_id)cls) != BACKEND_MID_V3) {
            lane_flush_class(heap, (class_id)cls);
        } else if (heap->bins.limit[cls] != 0) {
            bin_empty(heap, (class_id)cls);
        }
    }
}

// From the slabs: the first block is the caller's, the others fill the bin.
static void *take_fresh(struct heap *heap, class_id cls, enum backend_id backend)
{
    void *blocks[REFILL_COUNT_MOST];
    size_t want = min_size(bin_refill_count(heap, cls), REFILL_COUNT_MOST);
    void *block = take_returned(heap, cls);
    if (block != NULL) {
        return block;
    }
    if (heap_registry_parked_count() != 0 && slab_is_out(&heap->slabs, cls)) {
        (void)heap_registry_steal(heap, cls);
    }
    size_t taken = backend_refill(backend, &heap->slabs, cls, blocks, want);
    bin_tick(heap);
    if (taken == 0) {
        return NULL;
    }
    struct quarantine *quarantine = atomic_load_explicit(&heap->quarantine, memory_order_relaxed);
    if (unlikely(quarantine != NULL)) {
        quarantine_shuffle(quarantine, blocks, taken);
    }
    // All but the first have room: the bin is empty and want <= limit.
    (void)bin_push_many(heap, cls, blocks + 1, taken - 1);
    return blocks[0];
}

void *heap_refill(struct heap *heap, class_id cls)
{
    control_look();
    if (unlikely(gates.learner)) {
        learner_look(heap, cls);
    }
    if (unlikely(heap->route_version != route_version())) {
        follow_routes(heap);
    }
    if (bin_take_reserve(heap, cls)) {
        return bin_pop_slow(heap, cls);
    }
    uint64_t start = learner_time();
    enum backend_id backend = route_backend(cls);
    bool is_lane = backend == BACKEND_MID_V3;
    void *block = unlikely(is_lane) ? lane_take(heap, cls) : take_fresh(heap, cls, backend);
    learner_note(heap, start, is_lane);
    return block;
}
