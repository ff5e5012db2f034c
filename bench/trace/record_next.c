// SPDX-License-Identifier: MIT
#include "record_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum {
    EARLY_BYTES = 4096,
    EARLY_ALIGN = 16,
};

// Touched by the one thread that there is when a process makes its first allocation.
static struct {
    bool is_looking;
    size_t used_bytes;
    alignas(EARLY_ALIGN) char bytes[EARLY_BYTES];
} early;

bool record_next_is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early.bytes < EARLY_BYTES;
}

static void *early_take(size_t bytes)
{
    if (bytes > EARLY_BYTES - EARLY_ALIGN - early.used_bytes) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = early.bytes + early.used_bytes;
    early.used_bytes += (bytes + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
    return block;
}

static void find(void *function, size_t function_bytes, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        static const char message[] = "hakmem record: the program has no allocator to record.\n";
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        _exit(1);
    }
    memcpy(function, &symbol, function_bytes);
}

static void find_all(void)
{
    struct record_next found;
    early.is_looking = true;
    find(&found.malloc, sizeof found.malloc, "malloc");
    find(&found.calloc, sizeof found.calloc, "calloc");
    find(&found.realloc, sizeof found.realloc, "realloc");
    find(&found.free, sizeof found.free, "free");
    find(&found.memalign, sizeof found.memalign, "memalign");
    find(&found.aligned_alloc, sizeof found.aligned_alloc, "aligned_alloc");
    find(&found.posix_memalign, sizeof found.posix_memalign, "posix_memalign");
    early.is_looking = false;
    record_next = found;
}

static void *first_malloc(size_t bytes)
{
    if (early.is_looking) {
        return early_take(bytes);
    }
    find_all();
    return record_next.malloc(bytes);
}

static void *first_calloc(size_t count, size_t bytes)
{
    if (early.is_looking) {
        size_t all_bytes = 0;
        return __builtin_mul_overflow(count, bytes, &all_bytes) ? NULL : early_take(all_bytes);
    }
    find_all();
    return record_next.calloc(count, bytes);
}

static void *first_realloc(void *block, size_t bytes)
{
    find_all();
    return record_next.realloc(block, bytes);
}

static void first_free(void *block)
{
    find_all();
    record_next.free(block);
}

static void *first_memalign(size_t align, size_t bytes)
{
    find_all();
    return record_next.memalign(align, bytes);
}

static void *first_aligned_alloc(size_t align, size_t bytes)
{
    find_all();
    return record_next.aligned_alloc(align, bytes);
}

static int first_posix_memalign(void **block, size_t align, size_t bytes)
{
    find_all();
    return record_next.posix_memalign(block, align, bytes);
}

struct record_next record_next = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
};
