// The hak_* interface: each function is documented in include/hakmem.h.
// SPDX-License-Identifier: MIT
#include "backend/large.h"
#include "base/bits.h"
#include "front/free_fast.h"
#include "front/hardened.h"
#include "front/heap_api.h"
#include "front/malloc_tiny_fast.h"
#include "front/resize.h"
#include "hakmem.h"
#include "harden/harden_mode.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "stats/budget.h"
#include "thread/gate_set.h"
#include "thread/heap_stats.h"
#include "thread/process.h"

#include <errno.h>
#include <string.h>

const char *hak_version(void)
{
    return HAK_VERSION;
}

void *hak_malloc(size_t bytes)
{
    return malloc_tiny_fast(bytes, KIND_MALLOC);
}

void *hak_calloc(size_t count, size_t bytes)
{
    return malloc_zeroed(count, bytes);
}

void *hak_realloc(void *block, size_t bytes)
{
    return block_resize(block, 1, bytes);
}

static void *invalid(void)
{
    errno = EINVAL;
    return NULL;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *hak_reallocarray(void *block, size_t count, size_t bytes)
{
    size_t total = 0;
    return __builtin_mul_overflow(count, bytes, &total) ? no_memory()
                                                        : block_resize(block, 1, total);
}

void *hak_rezalloc(void *block, size_t old_bytes, size_t bytes)
{
    if (block == NULL) {
        return malloc_zeroed(1, bytes);
    }
    if (old_bytes > block_usable_bytes(block)) {
        return invalid();
    }
    char *resized = block_resize(block, 1, bytes);
    if (resized != NULL) {
        size_t kept_bytes = min_size(old_bytes, bytes);
        memset(resized + kept_bytes, 0, block_usable_bytes(resized) - kept_bytes);
    }
    return resized;
}

void *hak_recalloc(void *block, size_t old_count, size_t count, size_t bytes)
{
    size_t old_total = 0;
    size_t total = 0;
    if (__builtin_mul_overflow(old_count, bytes, &old_total) ||
        __builtin_mul_overflow(count, bytes, &total)) {
        return no_memory();
    }
    return hak_rezalloc(block, old_total, total);
}

void *hak_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_power_of_two(alignment) ? malloc_aligned(alignment, bytes, KIND_MALLOC) : invalid();
}

void *hak_aligned_realloc(void *block, size_t alignment, size_t bytes)
{
    return is_power_of_two(alignment) ? block_resize(block, alignment, bytes) : invalid();
}

int hak_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    int saved_errno = errno;
    void *aligned = malloc_aligned(alignment, bytes, KIND_MALLOC);
    errno = saved_errno;
    if (aligned == NULL) {
        return ENOMEM;
    }
    *block = aligned;
    return 0;
}

void hak_free(void *block)
{
    free_fast(block, KIND_MALLOC);
}

// A hardened process checks the size; else it is a hint that nobody needs.
void hak_free_sized(void *block, size_t bytes)
{
    if (unlikely(harden_is_on())) {
        hardened_free(block, KIND_MALLOC, bytes);
        return;
    }
    free_fast(block, KIND_MALLOC);
}

void hak_free_aligned_sized(void *block, size_t alignment, size_t bytes)
{
    if (unlikely(harden_is_on())) {
        hardened_free_aligned(block, alignment, KIND_MALLOC, bytes);
        return;
    }
    free_fast(block, KIND_MALLOC);
}

size_t hak_batch_alloc(size_t bytes, void **blocks, size_t count)
{
    size_t taken = 0;
    while (taken < count && (blocks[taken] = malloc_tiny_fast(bytes, KIND_MALLOC)) != NULL) {
        taken++;
    }
    return taken;
}

void hak_batch_free(void **blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free_fast(blocks[i], KIND_MALLOC);
    }
}

size_t hak_usable_size(const void *block)
{
    return block == NULL ? 0 : block_usable_bytes(block);
}

size_t hak_good_size(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - os_page_bytes()) {
        return 0;
    }
    if (harden_pads()) {
        return bytes;
    }
    bytes += bytes == 0;
    return bytes <= CLASSED_BYTES_MOST ? size_class_bytes(size_class_of(bytes))
                                       : align_up(bytes, os_page_bytes());
}

bool hak_owns(const void *address)
{
    page_entry entry = page_map_lookup(address);
    return page_entry_class(entry) == LARGE_CLASS ? large_is_live(entry, address) : entry != 0;
}

size_t hak_trim(size_t keep_bytes)
{
    heap_flush(thread_heap);
    size_t bytes = heap_purge_all(keep_bytes);
    if (keep_bytes == 0) {
        (void)page_heap_unmap_clean(0);
    }
    return bytes;
}

void hak_thread_flush(void)
{
    heap_flush(thread_heap);
    heap_purge_if_due(thread_heap);
}

size_t hak_limit_set(size_t limit_bytes)
{
    process_settings_lock();
    gate_store_live(&gates.limit, limit_bytes);
    size_t before =
        atomic_exchange_explicit(&budget.limit_bytes, limit_bytes, memory_order_relaxed);
    process_settings_unlock();
    return before;
}

size_t hak_limit_get(void)
{
    return budget_read(&budget.limit_bytes);
}

void hak_limit_set_callback(hak_limit_callback *callback, void *context)
{
    malloc_set_limit_callback(callback, context);
}

int hak_stats_read(struct hak_stats *stats)
{
    struct class_figures classes[CLASS_COUNT];
    struct hak_stats all;
    size_t bytes = stats->struct_bytes;
    if (bytes < sizeof stats->struct_bytes) {
        return EINVAL;
    }
    heap_stats_read(&all, classes);
    memset(stats, 0, bytes);
    memcpy(stats, &all, min_size(bytes, sizeof all));
    stats->struct_bytes = bytes;
    return 0;
}

size_t hak_stats_json(char *text, size_t bytes)
{
    return heap_stats_json(text, bytes);
}

int hak_ctl_get(const char *gate, char *value, size_t bytes)
{
    int id = gate_find(gate);
    if (id < 0) {
        return ENOENT;
    }
    process_settings_lock();
    size_t length = gate_format(&gates, (enum gate_id)id, value, bytes);
    process_settings_unlock();
    return length < bytes ? 0 : ERANGE;
}

int hak_ctl_set(const char *gate, const char *value)
{
    return gate_set_live(gate, value);
}

// What the header calls struct hak_heap is a struct heap.
static struct heap *inner(struct hak_heap *heap)
{
    return (struct heap *)(void *)heap;
}

struct hak_heap *hak_heap_create(void)
{
    int attempt = 0;
    struct heap *heap = NULL;
    do {
        heap = heap_create_shared();
    } while (heap == NULL && malloc_make_room(sizeof *heap, &attempt));
    return heap != NULL ? (struct hak_heap *)(void *)heap : no_memory();
}

void *hak_heap_malloc(struct hak_heap *heap, size_t bytes)
{
    return heap_take(inner(heap), 1, bytes);
}

void *hak_heap_calloc(struct hak_heap *heap, size_t count, size_t bytes)
{
    return heap_take_zeroed(inner(heap), count, bytes);
}

void *hak_heap_aligned_alloc(struct hak_heap *heap, size_t alignment, size_t bytes)
{
    return is_power_of_two(alignment) ? heap_take(inner(heap), alignment, bytes) : invalid();
}

void hak_heap_destroy(struct hak_heap *heap)
{
    if (heap != NULL) {
        heap_destroy_shared(inner(heap));
    }
}
