// The array, sized and nothrow forms of operator new and delete: each leads to a base form.
// SPDX-License-Identifier: MIT
#include "front/malloc_tiny_fast.h"
#include "override/cxx_operators.h"

#include <dlfcn.h>

#define CXX(prototype, name)                                                                       \
    HAK_EXPORT prototype __asm__(name);                                                            \
    prototype

CXX(void *cxx_new_array(size_t bytes), "_Znam")
{
    return cxx_new(bytes);
}

CXX(void *cxx_new_array_aligned(size_t bytes, size_t alignment), "_ZnamSt11align_val_t")
{
    return cxx_new_aligned(bytes, alignment);
}

CXX(void cxx_delete_array(void *block), "_ZdaPv")
{
    cxx_delete(block);
}

CXX(void cxx_delete_array_aligned(void *block, size_t alignment), "_ZdaPvSt11align_val_t")
{
    cxx_delete_aligned(block, alignment);
}

CXX(void cxx_delete_sized(void *block, size_t bytes), "_ZdlPvm")
{
    (void)bytes;
    cxx_delete(block);
}

CXX(void cxx_delete_array_sized(void *block, size_t bytes), "_ZdaPvm")
{
    (void)bytes;
    cxx_delete(block);
}

CXX(void cxx_delete_sized_aligned(void *block, size_t bytes, size_t alignment),
    "_ZdlPvmSt11align_val_t")
{
    (void)bytes;
    cxx_delete_aligned(block, alignment);
}

CXX(void cxx_delete_array_sized_aligned(void *block, size_t bytes, size_t alignment),
    "_ZdaPvmSt11align_val_t")
{
    (void)bytes;
    cxx_delete_aligned(block, alignment);
}

// Called when a constructor throws under a nothrow new.
CXX(void cxx_delete_nothrow(void *block, const void *nothrow), "_ZdlPvRKSt9nothrow_t")
{
    (void)nothrow;
    cxx_delete(block);
}

CXX(void cxx_delete_array_nothrow(void *block, const void *nothrow), "_ZdaPvRKSt9nothrow_t")
{
    (void)nothrow;
    cxx_delete(block);
}

CXX(void cxx_delete_aligned_nothrow(void *block, size_t alignment, const void *nothrow),
    "_ZdlPvSt11align_val_tRKSt9nothrow_t")
{
    (void)nothrow;
    cxx_delete_aligned(block, alignment);
}

CXX(void cxx_delete_array_aligned_nothrow(void *block, size_t alignment, const void *nothrow),
    "_ZdaPvSt11align_val_tRKSt9nothrow_t")
{
    (void)nothrow;
    cxx_delete_aligned(block, alignment);
}

// The nothrow forms must turn an exception of the new-handler into NULL, which C can't: so where a
// try has failed and there is a handler to call, the C++ runtime's own nothrow form, the next in
// the search order, calls the throwing form and catches.  A static program has no next: there the
// handler's exception passes through.
extern void *find_next(void *where, const char *name) __asm__("dlsym") __attribute__((weak));

static HAK_COLD void *nothrow_slow(const char *name, size_t bytes, size_t alignment,
                                   const void *nothrow)
{
    if (cxx_get_new_handler == NULL || cxx_get_new_handler() == NULL) {
        return NULL;
    }
    void *next = find_next != NULL ? find_next(RTLD_NEXT, name) : NULL;
    if (next == NULL) {
        return alignment == 0 ? cxx_new(bytes) : cxx_new_aligned(bytes, alignment);
    }
    if (alignment == 0) {
        return ((void *(*)(size_t, const void *))next)(bytes, nothrow);
    }
    return ((void *(*)(size_t, size_t, const void *))next)(bytes, alignment, nothrow);
}

#define NEW_NOTHROW      "_ZnwmRKSt9nothrow_t"
#define NEW_NOTHROW_A    "_ZnwmSt11align_val_tRKSt9nothrow_t"
#define NEW_ARR_NOTHROW  "_ZnamRKSt9nothrow_t"
#define NEW_ARR_NOTHROWA "_ZnamSt11align_val_tRKSt9nothrow_t"

CXX(void *cxx_new_nothrow(size_t bytes, const void *nothrow), NEW_NOTHROW)
{
    void *block = malloc_tiny_fast(bytes);
    return likely(block != NULL) ? block : nothrow_slow(NEW_NOTHROW, bytes, 0, nothrow);
}

CXX(void *cxx_new_array_nothrow(size_t bytes, const void *nothrow), NEW_ARR_NOTHROW)
{
    void *block = malloc_tiny_fast(bytes);
    return likely(block != NULL) ? block : nothrow_slow(NEW_ARR_NOTHROW, bytes, 0, nothrow);
}

CXX(void *cxx_new_aligned_nothrow(size_t bytes, size_t alignment, const void *nothrow),
    NEW_NOTHROW_A)
{
    void *block = malloc_aligned(alignment, bytes);
    return likely(block != NULL) ? block : nothrow_slow(NEW_NOTHROW_A, bytes, alignment, nothrow);
}

CXX(void *cxx_new_array_aligned_nothrow(size_t bytes, size_t alignment, const void *nothrow),
    NEW_ARR_NOTHROWA)
{
    void *block = malloc_aligned(alignment, bytes);
    return likely(block != NULL) ? block
                                 : nothrow_slow(NEW_ARR_NOTHROWA, bytes, alignment, nothrow);
}
