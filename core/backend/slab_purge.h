// Empty pages inside partly used slabs.
// Layer: backend.  Needs: base, os, stats, region, route.
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

// The steps of a purge, as struct backend_purge has them.
size_t slab_purge_find(struct slab_owner *owner);
void slab_purge_begin(struct slab_owner *owner);
void slab_purge_pending(struct slab_owner *owner);
size_t slab_purge_finish(struct slab_owner *owner);
void slab_purge_forget(struct slab_owner *owner);

#endif
