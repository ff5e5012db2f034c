// The array, sized and nothrow forms of operator new and delete: each leads to a base form.
// SPDX-License-Identifier: MIT
#include "front/hardened.h"
#include "front/malloc_tiny_fast.h"
#include "harden/harden_mode.h"
#include "override/cxx_operators.h"

#include <dlfcn.h>

#define CXX(prototype, name)                                                                       \
    HAK_EXPORT prototype __asm__(name);                                                            \
    prototype

// A hardened process tells the kinds apart, and the sizes, but not where the program has base forms of
// its own, whose blocks may be anything.
static bool base_operators_are_ours(void)
{
    return &cxx_new == &cxx_own_new && &cxx_new_aligned == &cxx_own_new_aligned &&
           &cxx_delete == &cxx_own_delete && &cxx_delete_aligned == &cxx_own_delete_aligned;
}

static inline void *marked(void *block, enum block_kind kind)
{
    if (unlikely(harden_pads()) && block != NULL && base_operators_are_ours()) {
        hardened_mark(block, kind);
    }
    return block;
}

// False, and nothing done, where a free isn't checked.
static inline bool free_checked(void *block, enum block_kind kind, size_t bytes)
{
    if (likely(!harden_is_on()) || !base_operators_are_ours()) {
        return false;
    }
    hardened_free(block, kind, bytes);
    return true;
}

static inline bool free_checked_aligned(void *block, size_t alignment, enum block_kind kind,
                                        size_t bytes)
{
    if (likely(!harden_is_on()) || !base_operators_are_ours()) {
        return false;
    }
    hardened_free_aligned(block, alignment, kind, bytes);
    return true;
}

CXX(void *cxx_new_array(size_t bytes), "_Znam")
{
    return marked(cxx_new(bytes), KIND_NEW_ARRAY);
}

CXX(void *cxx_new_array_aligned(size_t bytes, size_t alignment), "_ZnamSt11align_val_t")
{
    return marked(cxx_new_aligned(bytes, alignment), KIND_NEW_ARRAY_ALIGNED);
}

CXX(void cxx_delete_array(void *block), "_ZdaPv")
{
    if (!free_checked(block, KIND_NEW_ARRAY, BYTES_UNKNOWN)) {
        cxx_delete(block);
    }
}

CXX(void cxx_delete_array_aligned(void *block, size_t alignment), "_ZdaPvSt11align_val_t")
{
    if (!free_checked_aligned(block, alignment, KIND_NEW_ARRAY_ALIGNED, BYTES_UNKNOWN)) {
        cxx_delete_aligned(block, alignment);
    }
}

CXX(void cxx_delete_sized(void *block, size_t bytes), "_ZdlPvm")
{
    if (!free_checked(block, KIND_NEW, bytes)) {
        cxx_delete(block);
    }
}

CXX(void cxx_delete_array_sized(void *block, size_t bytes), "_ZdaPvm")
{
    if (!free_checked(block, KIND_NEW_ARRAY, bytes)) {
        cxx_delete(block);
    }
}

CXX(void cxx_delete_sized_aligned(void *block, size_t bytes, size_t alignment),
    "_ZdlPvmSt11align_val_t")
{
    if (!free_checked_aligned(block, alignment, KIND_NEW_ALIGNED, bytes)) {
        cxx_delete_aligned(block, alignment);
    }
}

CXX(void cxx_delete_array_sized_aligned(void *block, size_t bytes, size_t alignment),
    "_ZdaPvmSt11align_val_t")
{
    if (!free_checked_aligned(block, alignment, KIND_NEW_ARRAY_ALIGNED, bytes)) {
        cxx_delete_aligned(block, alignment);
    }
}

// Called when a constructor throws under a nothrow new.
CXX(void cxx_delete_nothrow(void *block, const void *nothrow), "_ZdlPvRKSt9nothrow_t")
{
    (void)nothrow;
    if (!free_checked(block, KIND_NEW, BYTES_UNKNOWN)) {
        cxx_delete(block);
    }
}

CXX(void cxx_delete_array_nothrow(void *block, const void *nothrow), "_ZdaPvRKSt9nothrow_t")
{
    (void)nothrow;
    if (!free_checked(block, KIND_NEW_ARRAY, BYTES_UNKNOWN)) {
        cxx_delete(block);
    }
}

CXX(void cxx_delete_aligned_nothrow(void *block, size_t alignment, const void *nothrow),
    "_ZdlPvSt11align_val_tRKSt9nothrow_t")
{
    (void)nothrow;
    if (!free_checked_aligned(block, alignment, KIND_NEW_ALIGNED, BYTES_UNKNOWN)) {
        cxx_delete_aligned(block, alignment);
    }
}

CXX(void cxx_delete_array_aligned_nothrow(void *block, size_t alignment, const void *nothrow),
    "_ZdaPvSt11align_val_tRKSt9nothrow_t")
{
    (void)nothrow;
    if (!free_checked_aligned(block, alignment, KIND_NEW_ARRAY_ALIGNED, BYTES_UNKNOWN)) {
        cxx_delete_aligned(block, alignment);
    }
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
        bool is_array = name[3] == 'a';
        if (alignment == 0) {
            return is_array ? cxx_new_array(bytes) : cxx_new(bytes);
        }
        return is_array ? cxx_new_array_aligned(bytes, alignment)
                        : cxx_new_aligned(bytes, alignment);
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

// Where the program has base forms of its own, which may call malloc and free, the block is malloc's.
static inline void *try_take(size_t alignment, size_t bytes, enum block_kind kind)
{
    if (unlikely(harden_pads()) && !base_operators_are_ours()) {
        kind = KIND_MALLOC;
    }
    return malloc_aligned(alignment, bytes, kind);
}

CXX(void *cxx_new_nothrow(size_t bytes, const void *nothrow), NEW_NOTHROW)
{
    void *block = harden_pads() ? try_take(1, bytes, KIND_NEW) : malloc_tiny_fast(bytes, KIND_NEW);
    return likely(block != NULL) ? block : nothrow_slow(NEW_NOTHROW, bytes, 0, nothrow);
}

CXX(void *cxx_new_array_nothrow(size_t bytes, const void *nothrow), NEW_ARR_NOTHROW)
{
    void *block = harden_pads() ? try_take(1, bytes, KIND_NEW_ARRAY)
                                : malloc_tiny_fast(bytes, KIND_NEW_ARRAY);
    return likely(block != NULL) ? block : nothrow_slow(NEW_ARR_NOTHROW, bytes, 0, nothrow);
}

CXX(void *cxx_new_aligned_nothrow(size_t bytes, size_t alignment, const void *nothrow),
    NEW_NOTHROW_A)
{
    void *block = try_take(alignment, bytes, KIND_NEW_ALIGNED);
    return likely(block != NULL) ? block : nothrow_slow(NEW_NOTHROW_A, bytes, alignment, nothrow);
}

CXX(void *cxx_new_array_aligned_nothrow(size_t bytes, size_t alignment, const void *nothrow),
    NEW_ARR_NOTHROWA)
{
    void *block = try_take(alignment, bytes, KIND_NEW_ARRAY_ALIGNED);
    return likely(block != NULL) ? block
                                 : nothrow_slow(NEW_ARR_NOTHROWA, bytes, alignment, nothrow);
}
