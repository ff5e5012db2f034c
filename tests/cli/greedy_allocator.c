// An allocator that never reuses anything: what it costs is known beforehand.
// SPDX-License-Identifier: MIT
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The project hides what isn't marked; here all of it is the point.
#pragma GCC visibility push(default)

enum {
    HEAP_BYTES = 1 << 30,
    ALIGN_BYTES = 16,
};

// Pages that nobody touches cost nothing.
static char heap[HEAP_BYTES] __attribute__((aligned(4096)));
static _Atomic size_t used_bytes;

// The size stands before the block.
static void *take(size_t align_bytes, size_t bytes)
{
    size_t room_bytes = bytes + align_bytes + ALIGN_BYTES;
    size_t start = atomic_fetch_add_explicit(&used_bytes, room_bytes, memory_order_relaxed);
    if (bytes > HEAP_BYTES || start + room_bytes > HEAP_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t first = (uintptr_t)heap + start + ALIGN_BYTES;
    char *block = (char *)((first + align_bytes - 1) & ~(align_bytes - 1));
    memcpy(block - sizeof bytes, &bytes, sizeof bytes);
    return block;
}

void *malloc(size_t bytes)
{
    return take(ALIGN_BYTES, bytes);
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t bytes)
{
    size_t all_bytes = 0;
    return __builtin_mul_overflow(count, bytes, &all_bytes) ? NULL : take(ALIGN_BYTES, all_bytes);
}

void *realloc(void *block, size_t bytes)
{
    void *grown = take(ALIGN_BYTES, bytes);
    if (block != NULL && grown != NULL) {
        size_t old_bytes = 0;
        memcpy(&old_bytes, (char *)block - sizeof old_bytes, sizeof old_bytes);
        memcpy(grown, block, old_bytes < bytes ? old_bytes : bytes);
    }
    return grown;
}

void *memalign(size_t align_bytes, size_t bytes)
{
    return take(align_bytes > ALIGN_BYTES ? align_bytes : ALIGN_BYTES, bytes);
}

void *aligned_alloc(size_t align_bytes, size_t bytes)
{
    return memalign(align_bytes, bytes);
}

int posix_memalign(void **block, size_t align_bytes, size_t bytes)
{
    *block = memalign(align_bytes, bytes);
    return *block != NULL ? 0 : ENOMEM;
}
