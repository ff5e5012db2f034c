// Memory for our own records: out of reach of an overflow, never given back.
// Layer: region.  Needs: base, os, stats.
// SPDX-License-Identifier: MIT
//
// A bump allocator over chunks that stand between guard pages.  What is taken stays taken; whoever
// has records to spare keeps them in a list of its own.  Zeroed.  Any thread may call.
#ifndef HAK_REGION_RECORD_POOL_H
#define HAK_REGION_RECORD_POOL_H

#include <stddef.h>

// `bytes` zeroed bytes, aligned to 64, or NULL.
void *record_take(size_t bytes);

// A mapping of its own between guard pages, zeroed, page-aligned, or NULL.  Only what is touched
// of it becomes resident, so it counts as mapped but not as committed.  It stays.
void *record_map(size_t bytes);

// Around fork.
void record_pool_lock(void);
void record_pool_unlock(void);

#endif
