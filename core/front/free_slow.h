// free where the hit path ends: full bins, other owners, large blocks, NULL, what is no block.
// Layer: front.  Needs: base, thread.
// SPDX-License-Identifier: MIT
#ifndef HAK_FRONT_FREE_SLOW_H
#define HAK_FRONT_FREE_SLOW_H

#include "base/compiler.h"

#include <stddef.h>

// Any pointer.  Keeps errno.
__attribute__((noinline)) void free_slow(void *pointer);

// The usable bytes of a block, also of one of glibc's; dies when `pointer` isn't in a slab and isn't a
// large block.
size_t block_usable_bytes(const void *pointer);

#endif
