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

// How a backend gives back empty pages of its spans that are in use; see backend_purge.h.
struct backend_purge {
    // Under the lock: notes what is worth a system call; returns its bytes.
    size_t (*find)(struct slab_owner *owner);
    // Under the lock: puts what was noted out of refill's reach.
    void (*begin)(struct slab_owner *owner);
    // Gives it back to the system.  The lock isn't held; flushes go on meanwhile.
    void (*purge)(struct slab_owner *owner);
    // Under the lock: puts it in reach again; returns the bytes that were given back.
    size_t (*finish)(struct slab_owner *owner);
    // Instead of the last: whether it was given back isn't known.
    void (*forget)(struct slab_owner *owner);
};

struct backend {
    const char *name;
    const char *trade;

    // Takes up to `want` blocks of the class from `owner`, which grows where it has none.  0: memory
    // or the limit is reached.  The caller holds no lock: the system may be asked for memory.
    size_t (*refill)(struct slab_owner *owner, class_id cls, void **blocks, size_t want);

    // Takes back the leading blocks of blocks[0 .. count) that are this backend's, or the first few of
    // them; returns how many, at least 1, as the first one is.  All belong to `owner`.  Dies on a block that is free already and
    // on what is no block.  Under the owner's lock.
    size_t (*flush)(struct slab_owner *owner, void *const *blocks, size_t count);

    // Is the block, which lies in a span of this backend, in no bin and not the program's?  Under the
    // lock.
    bool (*is_free)(const void *block);

    // The size of the block that began at `address` when the unit whose record is given was last in
    // use, or 0: to tell a double free from a wild pointer.
    size_t (*former_bytes)(const struct span *record, uintptr_t address);

    // Moves a span with free blocks of the class from one owner to another, whose locks are taken one
    // after the other; the caller holds a lock that keeps both owners and fork away.  False: there is
    // none.  NULL: spans of this backend stay where they are.
    bool (*move)(struct slab_owner *from, struct slab_owner *to, class_id cls);

    // NULL where another backend's steps see to the same spans.
    const struct backend_purge *purge;
};

extern const struct backend backend_table[BACKEND_COUNT];  // by enum backend_id

static inline size_t backend_refill(enum backend_id backend, struct slab_owner *owner, class_id cls,
                                    void **blocks, size_t want)
{
    return backend_table[backend].refill(owner, cls, blocks, want);
}

// Is the block in no bin and not the program's?  Under its owner's lock.
static inline bool backend_block_is_free(const void *block)
{
    return backend_table[span_of((uintptr_t)block)->backend].is_free(block);
}

// The size of the block, live or free, that begins at a pointer into a slab or a segment in use; 0 when
// none does.
size_t backend_bytes_at(const void *pointer);

// Dies with the best explanation of a pointer that free was given and that lies in no block now: it may
// be in a span that was given to the page heap when its last block was freed.
HAK_COLD _Noreturn void backend_die_unknown(const void *pointer);

// Gives blocks back to the backends that they came from; all belong to `owner`.  Under its lock.
void backend_flush(struct slab_owner *owner, void *const *blocks, size_t count);

#endif
