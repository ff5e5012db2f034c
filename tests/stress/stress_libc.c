// The stress test through the libc names: the allocator is whatever is preloaded, or libc's own.
// SPDX-License-Identifier: MIT
#include "stress_allocator.h"

#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

const char *const stress_allocator_name = "libc names";

// The extras of hakmem, looked up once; NULL where another allocator is under test.
static struct {
    pthread_once_t once;
    void (*free_sized)(void *block, size_t bytes);
    size_t (*batch_alloc)(size_t bytes, void **blocks, size_t count);
    void (*batch_free)(void **blocks, size_t count);
    void (*thread_flush)(void);
} extras = {.once = PTHREAD_ONCE_INIT};

static void find_extras(void)
{
    *(void **)&extras.free_sized = check_symbol("free_sized");
    *(void **)&extras.batch_alloc = check_symbol("hak_batch_alloc");
    *(void **)&extras.batch_free = check_symbol("hak_batch_free");
    *(void **)&extras.thread_flush = check_symbol("hak_thread_flush");
}

void *stress_malloc(size_t bytes)
{
    return malloc(bytes);
}

void *stress_calloc(size_t count, size_t bytes)
{
    return calloc(count, bytes);
}

void *stress_realloc(void *block, size_t bytes)
{
    return realloc(block, bytes);
}

void *stress_reallocarray(void *block, size_t count, size_t bytes)
{
    return reallocarray(block, count, bytes);
}

void *stress_aligned(enum aligned_kind kind, size_t *align_bytes, size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *block = NULL;
    switch (kind) {
    case ALIGNED_C11:
        return aligned_alloc(*align_bytes, bytes);
    case ALIGNED_MEMALIGN:
        return memalign(*align_bytes, bytes);
    case ALIGNED_VALLOC:
        *align_bytes = page_bytes;
        return valloc(bytes);
    case ALIGNED_PVALLOC:
        *align_bytes = page_bytes;
        return pvalloc(bytes);
    default:
        return posix_memalign(&block, *align_bytes, bytes) == 0 ? block : NULL;
    }
}

void *(*const stress_rezalloc)(void *block, size_t old_bytes, size_t bytes) = NULL;

void stress_free(void *block)
{
    free(block);
}

void stress_free_sized(void *block, size_t bytes)
{
    (void)pthread_once(&extras.once, find_extras);
    if (extras.free_sized != NULL) {
        extras.free_sized(block, bytes);
    } else {
        free(block);
    }
}

size_t stress_usable_size(void *block)
{
    return malloc_usable_size(block);
}

size_t stress_batch_alloc(size_t bytes, void **blocks, size_t count)
{
    (void)pthread_once(&extras.once, find_extras);
    if (extras.batch_alloc != NULL) {
        return extras.batch_alloc(bytes, blocks, count);
    }
    size_t done = 0;
    while (done < count && (blocks[done] = malloc(bytes)) != NULL) {
        done++;
    }
    return done;
}

void stress_batch_free(void **blocks, size_t count)
{
    (void)pthread_once(&extras.once, find_extras);
    if (extras.batch_free != NULL) {
        extras.batch_free(blocks, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
}

void stress_thread_flush(void)
{
    (void)pthread_once(&extras.once, find_extras);
    if (extras.thread_flush != NULL) {
        extras.thread_flush();
    }
}

void stress_trim(void)
{
    (void)malloc_trim(0);
}

bool stress_change_route(uint64_t number)
{
    (void)number;
    return false;
}

bool stress_live_blocks(size_t *count)
{
    (void)count;
    return false;  // libc itself holds blocks too
}
