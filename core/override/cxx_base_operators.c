// operator new and delete in the forms to which all others lead.
// SPDX-License-Identifier: MIT
#include "base/bits.h"
#include "front/free_fast.h"
#include "front/malloc_tiny_fast.h"
#include "os/os_process.h"
#include "override/cxx_operators.h"

// How libstdc++ and libc++ throw std::bad_alloc on behalf of others.
extern void throw_bad_alloc_gnu(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));
extern void throw_bad_alloc_llvm(void) __asm__("_ZNSt3__117__throw_bad_allocEv")
    __attribute__((weak));

static HAK_COLD _Noreturn void throw_bad_alloc(void)
{
    if (throw_bad_alloc_gnu != NULL) {
        throw_bad_alloc_gnu();
    }
    if (throw_bad_alloc_llvm != NULL) {
        throw_bad_alloc_llvm();
    }
    die("operator new is out of memory, and the program has no C++ runtime to throw bad_alloc");
}

// The loop that the standard asks for: try, call the handler, try again, until there is none.
static HAK_COLD void *new_slow(size_t bytes, size_t alignment, enum block_kind kind)
{
    for (;;) {
        new_handler *handler = cxx_get_new_handler != NULL ? cxx_get_new_handler() : NULL;
        if (handler == NULL) {
            throw_bad_alloc();
        }
        handler();
        void *block = malloc_aligned(alignment, bytes, kind);
        if (block != NULL) {
            return block;
        }
    }
}

void *cxx_new(size_t bytes)
{
    void *block = malloc_tiny_fast(bytes, KIND_NEW);
    return likely(block != NULL) ? block : new_slow(bytes, 1, KIND_NEW);
}

void *cxx_new_aligned(size_t bytes, size_t alignment)
{
    void *block =
        is_power_of_two(alignment) ? malloc_aligned(alignment, bytes, KIND_NEW_ALIGNED) : NULL;
    return likely(block != NULL) ? block : new_slow(bytes, alignment, KIND_NEW_ALIGNED);
}

void cxx_delete(void *block)
{
    free_fast(block, KIND_NEW);
}

void cxx_delete_aligned(void *block, size_t alignment)
{
    (void)alignment;
    free_fast(block, KIND_NEW_ALIGNED);
}

#define OWN(name) __attribute__((alias(name), visibility("hidden")))

OWN("_Znwm") void *cxx_own_new(size_t bytes);
OWN("_ZnwmSt11align_val_t") void *cxx_own_new_aligned(size_t bytes, size_t alignment);
OWN("_ZdlPv") void cxx_own_delete(void *block);
OWN("_ZdlPvSt11align_val_t") void cxx_own_delete_aligned(void *block, size_t alignment);
