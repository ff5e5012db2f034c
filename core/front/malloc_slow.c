// SPDX-License-Identifier: MIT
#include "front/malloc_slow.h"

#include "backend/fence.h"
#include "backend/large.h"
#include "base/bits.h"
#include "box/tiny_alloc_gate_box.h"
#include "front/hardened.h"
#include "harden/harden_mode.h"
#include "os/os_memory.h"
#include "region/page_heap.h"
#include "stats/budget.h"
#include "thread/bin.h"
#include "thread/process.h"

#include <errno.h>
#include <string.h>

// Both are set and read together, under the lock of the settings.
static struct {
    hak_limit_callback *function;
    void *context;
} limit_callback;

void malloc_tiny_count_rare(struct heap *heap, enum backend_id kind)
{
    front_count(&heap->gated.counters.mallocs[kind]);
}

void malloc_set_limit_callback(hak_limit_callback *callback, void *context)
{
    process_settings_lock();
    limit_callback.function = callback;
    limit_callback.context = context;
    process_settings_unlock();
}

static bool ask_program(size_t bytes)
{
    process_settings_lock();
    hak_limit_callback *function = limit_callback.function;
    void *context = limit_callback.context;
    process_settings_unlock();
    return function != NULL && function(bytes, context);
}

static size_t give_back_all(void)
{
    heap_flush(thread_heap);
    return heap_purge_all(0);
}

// Address space is of use only where it was the system that refused, not our own limit.  A mapping takes
// more than the block: its records, and what is cut off to align it.
static size_t unmap_where_refused(size_t bytes, size_t limit)
{
    enum {
        BESIDE_BYTES = 8 << 20
    };
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    bool is_limit_full = limit != 0 && (committed_bytes > limit || bytes > limit - committed_bytes);
    return is_limit_full ? 0 : page_heap_unmap_clean(bytes + BESIDE_BYTES) + fence_unmap_shut();
}

bool malloc_make_room(size_t bytes, int *attempt)
{
    enum {
        ATTEMPTS_MOST = 64,  // of a callback that promises room and makes none
    };
    size_t limit = budget_read(&budget.limit_bytes);
    bool is_hopeless = limit != 0 && bytes > limit;
    if (*attempt == 0) {
        *attempt = 1;
        if (!is_hopeless && give_back_all() + unmap_where_refused(bytes, limit) != 0) {
            return true;
        }
    }
    if (limit == 0 || ++*attempt >= ATTEMPTS_MOST || !ask_program(bytes)) {
        return false;
    }
    (void)give_back_all();  // what the callback freed
    return true;
}

static void *fail(void)
{
    errno = ENOMEM;
    return NULL;
}

HAK_COLD void *malloc_large(size_t align_bytes, size_t bytes, enum block_kind kind, bool *is_zero)
{
    if (bytes >> ADDRESS_BITS != 0) {
        return fail();
    }
    struct large_request request = {
        .bytes = bytes, .align_bytes = align_bytes, .owner_tag = LARGE_TAG, .kind = kind};
    int attempt = 0;
    void *block = NULL;
    do {
        // Started for its fork handlers, and for the gates.
        block = heap_of_thread() != NULL ? large_take(&request, is_zero) : NULL;
    } while (block == NULL && malloc_make_room(bytes, &attempt));
    return block != NULL ? block : fail();
}

HAK_COLD void *malloc_guarded(struct heap *heap, size_t align_bytes, size_t bytes,
                              enum block_kind kind)
{
    heap_draw_guard(heap);
    bool is_zero = false;
    struct large_request request = {.bytes = bytes,
                                    .align_bytes = align_bytes,
                                    .owner_tag = LARGE_TAG,
                                    .is_sample = true,
                                    .kind = kind};
    bool can_have = max_size(bytes, align_bytes) <= os_page_bytes();
    return can_have ? large_take(&request, &is_zero) : NULL;
}

HAK_COLD void *malloc_after_miss(class_id cls)
{
    int attempt = 0;
    void *block = NULL;
    do {
        struct heap *heap = heap_of_thread();
        // An adopted heap has a stock, and so has one whose limit's callback freed blocks.
        block = heap != NULL ? bin_pop_slow(heap, cls) : NULL;
        if (block == NULL && heap != NULL) {
            block = tiny_alloc_gate_take(heap, cls);
        }
    } while (block == NULL && malloc_make_room(size_class_bytes(cls), &attempt));
    return block != NULL ? block : fail();
}

static __attribute__((noinline)) void *take_missed(class_id cls)
{
    if (heap_guard_is_due(thread_heap)) {
        size_t bytes = size_class_bytes(cls);
        void *block =
            malloc_guarded(thread_heap, largest_power_dividing(bytes), bytes, KIND_MALLOC);
        if (block != NULL) {
            return block;
        }
    }
    return malloc_after_miss(cls);
}

// The thread has no heap yet, or the front is the gated one.
static __attribute__((noinline)) void *take_unhit(class_id cls)
{
    struct heap *heap = heap_of_thread();
    bool is_gated = heap != NULL && heap->front == FRONT_GATED && cls < TINY_CLASS_COUNT;
    void *block = is_gated ? tiny_alloc_gate_fast(heap, cls) : NULL;
    return likely(block != NULL) ? block : take_missed(cls);
}

static inline void *take_class(class_id cls)
{
    struct heap *heap = thread_heap;
    if (unlikely(heap->fast_limit == 0)) {
        return take_unhit(cls);
    }
    void *block = bin_pop(heap, cls);
    return likely(block != NULL) ? block : take_missed(cls);
}

void *malloc_slow(size_t bytes, enum block_kind kind)
{
    if (unlikely(harden_pads())) {
        return hardened_malloc(bytes, kind);
    }
    bytes += bytes == 0;
    if (likely(bytes <= CLASSED_BYTES_MOST)) {
        return take_class(size_class_of(bytes));
    }
    bool is_zero = false;
    return malloc_large(1, bytes, kind, &is_zero);
}

void *malloc_zeroed(size_t count, size_t bytes)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        return fail();
    }
    if (unlikely(harden_pads())) {
        return hardened_zeroed(total);
    }
    bool is_zero = false;
    total += total == 0;
    if (total <= CLASSED_BYTES_MOST) {
        // Up to the usable size: programs ask for it and then expect zeros there too.
        class_id cls = size_class_of(total);
        void *block = take_class(cls);
        return block != NULL ? memset(block, 0, size_class_bytes(cls)) : NULL;
    }
    void *block = malloc_large(1, total, KIND_MALLOC, &is_zero);
    return (block == NULL || is_zero) ? block : memset(block, 0, large_bytes(block));
}

void *malloc_aligned(size_t align_bytes, size_t bytes, enum block_kind kind)
{
    if (align_bytes <= TINY_STEP_BYTES) {
        return malloc_slow(bytes, kind);
    }
    if (unlikely(harden_pads())) {
        return hardened_aligned(align_bytes, bytes, kind);
    }
    bytes += bytes == 0;
    class_id cls = size_class_of_aligned(bytes, align_bytes);
    if (cls != 0) {
        return take_class(cls);
    }
    bool is_zero = false;
    return malloc_large(align_bytes, bytes, kind, &is_zero);
}
