// SPDX-License-Identifier: MIT
#include "thread/lane.h"

#include "backend/backend.h"
#include "base/check.h"
#include "os/os_process.h"
#include "region/record_pool.h"
#include "thread/heap_registry.h"
#include "thread/remote_free.h"

enum {
    STOCK_BYTES = 2048
};

static uint32_t stock_most(class_id cls)
{
    size_t count = STOCK_BYTES / size_class_bytes(cls);
    return (uint32_t)max_size(1, min_size(count, STOCK_COUNT));
}

static uint32_t stock_count(const struct stock *stock)
{
    return atomic_load_explicit(&stock->count, memory_order_relaxed);
}

static void stock_push(struct stock *stock, void *block)
{
    uint32_t count = stock_count(stock);
    hak_assert(count < STOCK_COUNT);
    atomic_store_explicit(&stock->blocks[count], block, memory_order_relaxed);
    compiler_barrier();  // a fork finds a valid prefix
    atomic_store_explicit(&stock->count, count + 1, memory_order_relaxed);
}

// The count goes down before the block is used: a fork in between loses it in the child, the other
// order would hand it out twice.
static void *stock_pop(struct stock *stock)
{
    uint32_t count = stock_count(stock);
    if (count == 0) {
        return NULL;
    }
    void *block = atomic_load_explicit(&stock->blocks[count - 1], memory_order_relaxed);
    atomic_store_explicit(&stock->count, count - 1, memory_order_relaxed);
    compiler_barrier();
    return block;
}

static bool stock_has(const struct stock *stock, const void *block)
{
    uint32_t count = stock_count(stock);
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load_explicit(&stock->blocks[i], memory_order_relaxed) == block) {
            return true;
        }
    }
    return false;
}

// The heap's stocks, made on the first call; NULL when memory is out.
static struct stock *stocks_of(struct heap *heap)
{
    struct stock *stocks = atomic_load_explicit(&heap->stocks, memory_order_relaxed);
    if (unlikely(stocks == NULL)) {
        stocks = record_take(TINY_CLASS_COUNT * sizeof *stocks);
        // Release: pairs with the acquire load in lane_count_stocks.
        atomic_store_explicit(&heap->stocks, stocks, memory_order_release);
    }
    return stocks;
}

// Free blocks of whatever lane has some: this processor's can't grow.
static size_t take_from_any(class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    for (unsigned i = 0; i < LANE_COUNT_MOST && taken == 0; i++) {
        struct heap *lane = heap_registry_find_lane(i);
        if (lane != NULL && !slab_is_out(&lane->slabs, cls)) {
            lock_take(lane->slabs.lock);
            taken = slab_refill(&lane->slabs, cls, blocks, want);
            lock_give(lane->slabs.lock);
        }
    }
    return taken;
}

void *lane_take(struct heap *heap, class_id cls)
{
    struct stock *stocks = stocks_of(heap);
    void *block = stocks != NULL ? stock_pop(&stocks[cls]) : NULL;
    if (block != NULL) {
        return block;
    }
    void *blocks[STOCK_COUNT];
    // First: libc's function may be interposed, and a malloc in there fills the stock.
    struct heap *lane = heap_registry_lane(os_cpu_index());
    size_t want = stocks != NULL ? max_size(stock_most(cls) - stock_count(&stocks[cls]), 1) : 1;
    size_t taken =
        lane != NULL ? backend_refill(BACKEND_MID_V3, &lane->slabs, cls, blocks, want) : 0;
    if (unlikely(taken == 0)) {
        taken = take_from_any(cls, blocks, want);
    }
    // The lowest address is the caller's, then the next.
    for (size_t i = taken; i-- > 1;) {
        stock_push(&stocks[cls], blocks[i]);
    }
    return taken != 0 ? blocks[0] : NULL;
}

bool lane_keep(struct heap *heap, void *block, page_entry entry)
{
    class_id cls = (class_id)page_entry_class(entry);
    const struct heap *owner = heap_registry_lookup(page_entry_tag(entry));
    if (owner == NULL || owner->kind != HEAP_LANE || cls == 0 || cls >= TINY_CLASS_COUNT ||
        route_backend(cls) != BACKEND_MID_V3) {
        return false;
    }
    struct stock *stocks = stocks_of(heap);
    if (stocks == NULL) {
        return false;
    }
    if (unlikely(stock_has(&stocks[cls], block))) {
        die_misuse("double free", block, size_class_bytes(cls));
    }
    if (stock_count(&stocks[cls]) >= stock_most(cls)) {
        return false;
    }
    stock_push(&stocks[cls], block);
    return true;
}

void lane_flush_class(struct heap *heap, class_id cls)
{
    struct stock *stocks = atomic_load_explicit(&heap->stocks, memory_order_relaxed);
    void *block = NULL;
    while (stocks != NULL && (block = stock_pop(&stocks[cls])) != NULL) {
        page_entry entry = page_map_lookup(block);
        if (!remote_free_append(heap, block, entry)) {
            remote_free_send(heap, block, entry);
        }
    }
}

void lane_flush(struct heap *heap)
{
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        lane_flush_class(heap, (class_id)cls);
    }
}

void lane_count_stocks(const struct heap *heap, size_t *counts)
{
    // Acquire: pairs with the release store in stocks_of.
    const struct stock *stocks = atomic_load_explicit(&heap->stocks, memory_order_acquire);
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT && stocks != NULL; cls++) {
        counts[cls] += stock_count(&stocks[cls]);
    }
}
