// Which function a block came from, and which one is to free it.
// Layer: harden.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_HARDEN_BLOCK_KIND_H
#define HAK_HARDEN_BLOCK_KIND_H

#include <stddef.h>
#include <stdint.h>

// A function that allocates and the functions that may free what it returned have the same kind.
enum block_kind {
    KIND_MALLOC,  // malloc, calloc, realloc, aligned_alloc and their like; free and realloc
    KIND_NEW,
    KIND_NEW_ARRAY,
    KIND_NEW_ALIGNED,
    KIND_NEW_ARRAY_ALIGNED,
    KIND_COUNT,
    KIND_FREED = 255,  // of no block: what a trailer says once its block was freed
};

#define BYTES_UNKNOWN SIZE_MAX  // of a free that names no size

#endif
