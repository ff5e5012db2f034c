// free where the hit path ends: full bins, other owners, large blocks, NULL, what is no block.
// Layer: front.  Needs: base, harden, thread.
// SPDX-License-Identifier: MIT
#ifndef HAK_FRONT_FREE_SLOW_H
#define HAK_FRONT_FREE_SLOW_H

#include "base/compiler.h"
#include "harden/block_kind.h"

#include <stddef.h>

// Any pointer.  Keeps errno.  `kind`: what a hardened process expects the block to be.
__attribute__((noinline)) void free_slow(void *pointer, enum block_kind kind);

// The same for a block that the hardened front has checked.
void free_unchecked(void *pointer);

// The usable bytes of a block, also of one of glibc's; dies when `pointer` isn't in a slab and isn't a
// large block.
size_t block_usable_bytes(const void *pointer);

// Of a pointer that is in no slab: of a large block, or of one of glibc's; else dies.
HAK_COLD size_t unclassed_usable_bytes(const void *pointer);

#endif
