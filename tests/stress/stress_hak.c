// The stress test through the prefixed interface, linked: the form for sanitizer builds.
// SPDX-License-Identifier: MIT
#include "stress_allocator.h"

#include "hakmem.h"

#include <stdio.h>
#include <unistd.h>

const char *const stress_allocator_name = "hak_* functions";

void *stress_malloc(size_t bytes)
{
    return hak_malloc(bytes);
}

void *stress_calloc(size_t count, size_t bytes)
{
    return hak_calloc(count, bytes);
}

void *stress_realloc(void *block, size_t bytes)
{
    return hak_realloc(block, bytes);
}

void *stress_reallocarray(void *block, size_t count, size_t bytes)
{
    return hak_reallocarray(block, count, bytes);
}

void *stress_aligned(enum aligned_kind kind, size_t *align_bytes, size_t bytes)
{
    void *block = NULL;
    switch (kind) {
    case ALIGNED_C11:
    case ALIGNED_MEMALIGN:
        return hak_aligned_alloc(*align_bytes, bytes);
    case ALIGNED_VALLOC:
    case ALIGNED_PVALLOC:
        *align_bytes = (size_t)sysconf(_SC_PAGESIZE);
        if (kind == ALIGNED_PVALLOC) {
            bytes = (bytes + *align_bytes - 1) / *align_bytes * *align_bytes;
        }
        return hak_aligned_realloc(NULL, *align_bytes, bytes);
    default:
        return hak_posix_memalign(&block, *align_bytes, bytes) == 0 ? block : NULL;
    }
}

void *(*const stress_rezalloc)(void *block, size_t old_bytes, size_t bytes) = hak_rezalloc;

void stress_free(void *block)
{
    hak_free(block);
}

void stress_free_sized(void *block, size_t bytes)
{
    hak_free_sized(block, bytes);
}

size_t stress_usable_size(void *block)
{
    return hak_usable_size(block);
}

size_t stress_batch_alloc(size_t bytes, void **blocks, size_t count)
{
    return hak_batch_alloc(bytes, blocks, count);
}

void stress_batch_free(void **blocks, size_t count)
{
    hak_batch_free(blocks, count);
}

void stress_thread_flush(void)
{
    hak_thread_flush();
}

void stress_trim(void)
{
    (void)hak_trim(0);
}

bool stress_change_route(uint64_t number)
{
    static const char *const switches[] = {"HAKMEM_MID_V3_ENABLED", "HAKMEM_TINY_C7_ULTRA_ENABLED",
                                           "HAKMEM_TINY_C6_ULTRA_ENABLED",
                                           "HAKMEM_SMALL_HEAP_V7_ENABLED"};
    static const char *const masks[] = {"HAKMEM_MID_V3_CLASSES", "HAKMEM_SMALL_HEAP_V7_CLASSES"};
    enum {
        SWITCH_COUNT = sizeof switches / sizeof switches[0],
        MASK_COUNT = sizeof masks / sizeof masks[0],
    };
    char value[8];
    size_t index = number % (SWITCH_COUNT + MASK_COUNT);
    if (index < SWITCH_COUNT) {
        return hak_ctl_set(switches[index], (number >> 8) % 3 == 0 ? "off" : "on") == 0;
    }
    (void)snprintf(value, sizeof value, "0x%x", (unsigned)(number >> 8) & 0xff);
    return hak_ctl_set(masks[index - SWITCH_COUNT], value) == 0;
}

bool stress_live_blocks(size_t *count)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    if (hak_stats_read(&stats) != 0) {
        return false;
    }
    *count = stats.live_blocks;
    return true;
}
