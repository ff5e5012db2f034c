// malloc and its family under the names of libc.
// SPDX-License-Identifier: MIT
//
// Where glibc is laxer than the standard we do as glibc: memalign and aligned_alloc round an
// alignment that is no power of two up to the next one, and aligned_alloc takes any size.
#include "base/bits.h"
#include "base/compiler.h"
#include "front/free_fast.h"
#include "front/malloc_tiny_fast.h"
#include "front/resize.h"
#include "os/os_memory.h"

#include <errno.h>

#include "override/libc_names.h"

HAK_EXPORT void *malloc(size_t bytes)
{
    return malloc_tiny_fast(bytes, KIND_MALLOC);
}

HAK_EXPORT void free(void *block)
{
    free_fast(block, KIND_MALLOC);
}

HAK_EXPORT void *calloc(size_t count, size_t bytes)
{
    return malloc_zeroed(count, bytes);
}

HAK_EXPORT void *realloc(void *block, size_t bytes)
{
    return block_resize(block, 1, bytes);
}

HAK_EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
    return hak_reallocarray(block, count, bytes);
}

static void *fail(int error)
{
    errno = error;
    return NULL;
}

HAK_EXPORT void *memalign(size_t alignment, size_t bytes)
{
    enum {
        HALF_OF_ALL_SHIFT = 63
    };
    if (alignment > (size_t)1 << HALF_OF_ALL_SHIFT) {
        return fail(EINVAL);
    }
    if (alignment <= TINY_STEP_BYTES) {
        return malloc_tiny_fast(bytes, KIND_MALLOC);
    }
    return malloc_aligned((size_t)1 << (log2_floor(alignment - 1) + 1), bytes, KIND_MALLOC);
}

HAK_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

HAK_EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    return hak_posix_memalign(block, alignment, bytes);
}

HAK_EXPORT void *valloc(size_t bytes)
{
    return malloc_aligned(os_page_bytes(), bytes, KIND_MALLOC);
}

HAK_EXPORT void *pvalloc(size_t bytes)
{
    size_t page_bytes = os_page_bytes();
    if (bytes > PTRDIFF_MAX - page_bytes) {
        return fail(ENOMEM);
    }
    return malloc_aligned(page_bytes, align_up(max_size(bytes, 1), page_bytes), KIND_MALLOC);
}

HAK_EXPORT size_t malloc_usable_size(void *block)
{
    return hak_usable_size(block);
}

HAK_EXPORT void cfree(void *block)
{
    free_fast(block, KIND_MALLOC);
}

HAK_EXPORT void free_sized(void *block, size_t bytes)
{
    hak_free_sized(block, bytes);
}

HAK_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes)
{
    hak_free_aligned_sized(block, alignment, bytes);
}

// The names that glibc exports for the same functions.
HAK_SAME_AS(malloc) void *__libc_malloc(size_t bytes);
HAK_SAME_AS(free) void __libc_free(void *block);
HAK_SAME_AS(calloc) void *__libc_calloc(size_t count, size_t bytes);
HAK_SAME_AS(realloc) void *__libc_realloc(void *block, size_t bytes);
HAK_SAME_AS(memalign) void *__libc_memalign(size_t alignment, size_t bytes);
HAK_SAME_AS(valloc) void *__libc_valloc(size_t bytes);
HAK_SAME_AS(pvalloc) void *__libc_pvalloc(size_t bytes);
