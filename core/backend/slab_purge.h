// Empty pages inside partly used slabs, given back so that a few stray blocks don't pin a slab.
// Layer: backend.  Needs: base, os, stats.
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

// The bytes of granules that became empty when `block` was marked free.  Under the lock.
size_t slab_emptied_bytes(const struct slab *slab, const void *block);

// For slab_purge: out of the lists, so that nothing is taken from the slab while the lock is
// dropped; and back.  Under the lock.
void slab_detach(struct slab *slab);
void slab_reattach(struct slab *slab);

#endif
