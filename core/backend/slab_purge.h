// Empty pages inside partly used slabs, given back so that a few stray blocks don't pin a slab.
// Layer: backend.  Needs: base, os, policy, stats, region, route.
// SPDX-License-Identifier: MIT
//
// A slab is looked at in granules: at most 64 of them, each a whole number of OS pages.  A granule
// is purged when every block that touches it is free; the first refill that takes a block of it
// makes it count again.
#ifndef HAK_BACKEND_SLAB_PURGE_H
#define HAK_BACKEND_SLAB_PURGE_H

#include "backend/slab.h"

// Log2 of the slab's granule in bytes.
unsigned slab_granule_shift(const struct slab *slab);

// Bytes of the slab that are purged now.
static inline size_t slab_purged_bytes(const struct slab *slab)
{
    if (likely(slab->purged == 0)) {
        return 0;
    }
    return (size_t)__builtin_popcountll(slab->purged) << slab_granule_shift(slab);
}

// The blocks are about to be used: their granules count as committed again.  False when the limit
// forbids that.  Under the lock.
HAK_COLD bool slab_unpurge(struct slab *slab, void *const *blocks, size_t count);

// Does the block touch no purged granule?
bool slab_block_is_resident(const struct slab *slab, const void *block);

// How many free blocks touch none.  Costs a few steps a run of purged granules.  Under the lock.
size_t slab_resident_free_count(const struct slab *slab);

// The bytes of granules that became empty when `block` was marked free.  Under the lock.
size_t slab_emptied_bytes(const struct slab *slab, const void *block);

// True when enough pages became empty since the last purge to make one worth its while.
bool slab_purge_is_due(const struct slab_owner *owner);

// What the owner may keep of them: its part of the bound of the process.
size_t slab_purge_allowance(const struct slab_owner *owner);

// Gives the empty pages of partly used slabs back to the system; slab_purge_down_to only when they
// exceed `keep_bytes`, and then all of them.  Takes and drops the lock; the caller holds none.
// Returns the bytes given back.
size_t slab_purge(struct slab_owner *owner);
size_t slab_purge_down_to(struct slab_owner *owner, size_t keep_bytes);

// Ends a purge whose thread is gone: in a forked child.
void slab_purge_forget(struct slab_owner *owner);

#endif
