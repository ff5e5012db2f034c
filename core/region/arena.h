// Arenas: the address space that the page heap cuts into spans, and which of its chunks are huge.
// Layer: region.  Needs: base, os, policy, stats.
// SPDX-License-Identifier: MIT
#ifndef HAK_REGION_ARENA_H
#define HAK_REGION_ARENA_H

#include "region/page_map.h"

enum {
    ARENA_BYTES_FIRST = 4 << 20,
    ARENA_BYTES_MOST = 64 << 20,  // what is wanted at most
};

struct arena {
    uintptr_t base;
    size_t bytes;  // 0: none could be had
    bool is_huge;  // the system was asked for huge pages; base and bytes are whole chunks then
};

// Maps an arena that the page map covers, of `wanted_bytes` or at least `least_bytes`: shorter ones are
// tried where the address space is short, for the arena or for the records of a GiB that it is the first
// in.  The caller holds no lock that matters to others.
struct arena arena_map(size_t least_bytes, size_t wanted_bytes);

// Notes in the page map which chunks of an arena are huge.  Under the page heap's lock.
void arena_mark(const struct arena *arena);

// The chunks of the window around `address` are huge no longer; returns which ones were.  Under the page
// heap's lock.
uint32_t arena_forget_huge(uintptr_t address);

// Tells the system so.  The caller holds no lock.
void arena_avoid_huge(uintptr_t address, uint32_t chunks);

#endif
