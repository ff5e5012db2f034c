// The replaceable C++ operators under their mangled names, and what C++ runtimes offer for failing.
// Layer: override.  Needs: base.
// SPDX-License-Identifier: MIT
//
// The four base forms (new, delete, and both with an alignment) serve the heap.  All others reach
// them through the dynamic symbol, as the standard's defaults do: a program that replaces only the
// base forms then gets its own functions from the array, sized and nothrow forms too.  That is why
// the two groups stand in two files, which are compiled without binding calls locally.
#ifndef HAK_OVERRIDE_CXX_OPERATORS_H
#define HAK_OVERRIDE_CXX_OPERATORS_H

#include "base/compiler.h"

#include <stddef.h>

HAK_EXPORT void *cxx_new(size_t bytes) __asm__("_Znwm");
HAK_EXPORT void *cxx_new_aligned(size_t bytes, size_t alignment) __asm__("_ZnwmSt11align_val_t");
HAK_EXPORT void cxx_delete(void *block) __asm__("_ZdlPv");
HAK_EXPORT void cxx_delete_aligned(void *block, size_t alignment) __asm__("_ZdlPvSt11align_val_t");

// The same under names that no program can replace.
void *cxx_own_new(size_t bytes);
void *cxx_own_new_aligned(size_t bytes, size_t alignment);
void cxx_own_delete(void *block);
void cxx_own_delete_aligned(void *block, size_t alignment);

typedef void new_handler(void);

// std::get_new_handler(); NULL without a C++ runtime.
extern new_handler *cxx_get_new_handler(void) __asm__("_ZSt15get_new_handlerv")
    __attribute__((weak));

#endif
