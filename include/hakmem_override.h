// hakmem: malloc and its family, redirected at compile time.
// SPDX-License-Identifier: MIT
//
// Include it after <stdlib.h>, or with `-include hakmem_override.h`, in sources that are linked with
// the library but must not replace malloc for the rest of the program (a plugin, say).  Blocks that
// libc itself allocates (strdup, getline, asprintf) are then libc's: free them in a file that
// doesn't include this.
#ifndef HAKMEM_OVERRIDE_H
#define HAKMEM_OVERRIDE_H

#include <hakmem.h>
#include <malloc.h>
#include <stdlib.h>

#define malloc(bytes)                           hak_malloc(bytes)
#define calloc(count, bytes)                    hak_calloc(count, bytes)
#define realloc(block, bytes)                   hak_realloc(block, bytes)
#define reallocarray(block, count, bytes)       hak_reallocarray(block, count, bytes)
#define aligned_alloc(alignment, bytes)         hak_aligned_alloc(alignment, bytes)
#define memalign(alignment, bytes)              hak_aligned_alloc(alignment, bytes)
#define posix_memalign(block, alignment, bytes) hak_posix_memalign(block, alignment, bytes)
#define malloc_usable_size(block)               hak_usable_size(block)
#define free(block)                             hak_free(block)

#endif
