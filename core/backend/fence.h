// Fences: blocks with pages on both sides that nobody may touch.
// Layer: backend.  Needs: base, os, stats, region.
// SPDX-License-Identifier: MIT
//
// Two sorts.  A fenced mapping is as long as its block: guard, pages, guard.  A slot is a part of a region
// that is reserved once; it holds one small block, and all of it is shut but for that block's pages.  What
// is freed stays shut for a while, so that a late access faults.  Each fence splits mappings, of which the
// system allows some 65 000: both sorts are bounded, and who finds no fence does without.
//
// Guarded by the lock of fence.c, which is held around no system call.
#ifndef HAK_BACKEND_FENCE_H
#define HAK_BACKEND_FENCE_H

#include <stdbool.h>
#include <stddef.h>

// `bytes` of zeroed pages between guards at a multiple of `align_bytes`, or NULL.
void *fence_map(size_t bytes, size_t align_bytes);

// Shuts the pages, which become unreachable at once and are unmapped later.  They are no longer counted
// as mapped.
void fence_unmap(void *pages, size_t bytes);

// Moves the pages to a place with guards where there are `bytes` of them, or cuts them where they are.
// NULL: as before.
void *fence_resize(void *pages, size_t old_bytes, size_t bytes);

// Takes the guards away.
void fence_drop(void *pages, size_t bytes);

// Unmaps what is shut: when address space is out.  Returns the bytes.
size_t fence_unmap_shut(void);

// The pages of a slot, whole pages for `bytes` that end where the guard begins, or NULL: all slots are in
// use or waiting, or `bytes` are more than a slot may hold.
void *slot_take(size_t bytes);

void slot_give(void *pages);

// Around fork.
void fence_lock(void);
void fence_unlock(void);

#endif
