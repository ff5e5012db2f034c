// malloc where the hit path ends: other sizes, empty bins, no heap yet, no memory.
// Layer: front.  Needs: base, route, harden, thread.
// SPDX-License-Identifier: MIT
#ifndef HAK_FRONT_MALLOC_SLOW_H
#define HAK_FRONT_MALLOC_SLOW_H

#include "base/compiler.h"
#include "hakmem.h"
#include "harden/block_kind.h"
#include "route/size_class.h"
#include "thread/heap.h"

#include <stdbool.h>
#include <stddef.h>

// Any size.  NULL with errno ENOMEM.  `kind`: what the block is in a hardened process.
__attribute__((noinline)) void *malloc_slow(size_t bytes, enum block_kind kind);

// The same, zeroed.
void *malloc_zeroed(size_t count, size_t bytes);

// At a multiple of `align_bytes`, a power of two.  NULL with errno ENOMEM.
void *malloc_aligned(size_t align_bytes, size_t bytes, enum block_kind kind);

// A small block between guards, in place of one from a bin; aligned to `align_bytes`.  NULL: there is
// none to be had, and errno is left alone.
void *malloc_guarded(struct heap *heap, size_t align_bytes, size_t bytes, enum block_kind kind);

// The parts that the hardened front shares: a block of the class when the bin is empty; a large block,
// aligned as asked, *is_zero when it holds zeros.  NULL with errno ENOMEM.
void *malloc_after_miss(class_id cls);
void *malloc_large(size_t align_bytes, size_t bytes, enum block_kind kind, bool *is_zero);

// Tries to make room when an allocation of `bytes` has failed: purges, then asks the program's
// callback.  True: worth another try.  `*attempt` counts; start it at 0.
bool malloc_make_room(size_t bytes, int *attempt);

void malloc_set_limit_callback(hak_limit_callback *callback, void *context);

#endif
