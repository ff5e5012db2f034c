// Backends: where the blocks of a class come from and go back to.
// Layer: backend.  Needs: base, os, stats, region, route.
// SPDX-License-Identifier: MIT
//
// A backend is two functions and a sentence on what it trades.  A route says which one refills a
// class; a flush goes by the block itself: every span records the backend that cut it, so routes can
// change while blocks of another backend are out or in bins.
#ifndef HAK_BACKEND_BACKEND_H
#define HAK_BACKEND_BACKEND_H

#include "backend/slab.h"

struct backend {
    const char *name;
    const char *trade;

    // Takes up to `want` blocks of the class from `owner`, which grows where it has none.  0: memory
    // or the limit is reached.  The caller holds no lock: the system may be asked for memory.
    size_t (*refill)(struct slab_owner *owner, class_id cls, void **blocks, size_t want);

    // Takes back the leading blocks of blocks[0 .. count) that are this backend's; returns how many, at
    // least 1, as the first one is.  All belong to `owner`.  Dies on a block that is free already and
    // on what is no block.  Under the owner's lock.
    size_t (*flush)(struct slab_owner *owner, void *const *blocks, size_t count);
};

extern const struct backend backend_table[BACKEND_COUNT];  // by enum backend_id

static inline size_t backend_refill(enum backend_id backend, struct slab_owner *owner, class_id cls,
                                    void **blocks, size_t want)
{
    return backend_table[backend].refill(owner, cls, blocks, want);
}

// Gives blocks back to the backends that they came from; all belong to `owner`.  Under its lock.
void backend_flush(struct slab_owner *owner, void *const *blocks, size_t count);

#endif
