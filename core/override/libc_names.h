// Prototypes of the libc names that libc's headers of some year or option don't declare.
// Layer: override.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_OVERRIDE_LIBC_NAMES_H
#define HAK_OVERRIDE_LIBC_NAMES_H

#include "hakmem.h"

#include <malloc.h>
#include <stdlib.h>

void cfree(void *block);
void free_sized(void *block, size_t bytes);
void free_aligned_sized(void *block, size_t alignment, size_t bytes);
void *__libc_malloc(size_t bytes);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *__libc_valloc(size_t bytes);
void *__libc_pvalloc(size_t bytes);
struct mallinfo __libc_mallinfo(void);
int __libc_mallopt(int parameter, int value);

#endif
