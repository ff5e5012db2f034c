// Large blocks: above 256 KiB, or aligned above 64 KiB.
// Layer: backend.  Needs: base, os, stats, region, harden.
// SPDX-License-Identifier: MIT
//
// A large block of up to 32 MiB is a span of the page heap, where it can grow into free neighbours and
// where what it leaves serves blocks of any size; a longer one has a mapping of its own, which mremap
// grows.  The page-map entry of the unit in which it begins says LARGE_CLASS; at most one can begin in
// a unit.  The unit's record holds the exact base.  In a hardened process a block lies between guards
// (fence.h), and ends where the second begins.
#ifndef HAK_BACKEND_LARGE_H
#define HAK_BACKEND_LARGE_H

#include "harden/block_kind.h"
#include "region/span.h"

struct large_request {
    size_t bytes;          // asked for
    size_t align_bytes;    // a power of two
    uint32_t owner_tag;    // LARGE_TAG, or the first-class heap's
    bool is_sample;        // a small block, to be guarded: see fence.h
    enum block_kind kind;  // in a hardened process
    struct span **owned;   // the list of the first-class heap that it belongs to, or NULL
};

struct large_figures {
    size_t live_bytes;
    size_t live_count;
};

// A block, or NULL when memory or the limit is reached.  *is_zero: all its bytes are 0.
void *large_take(const struct large_request *request, bool *is_zero);

// Is `pointer`, whose entry is given, the start of a live block?
static inline bool large_is_live(page_entry entry, const void *pointer)
{
    return page_entry_class(entry) == LARGE_CLASS && page_entry_tag(entry) != FREED_TAG &&
           span_of_unit((uintptr_t)pointer)->base == (uintptr_t)pointer;
}

// Frees a block.  Dies when `pointer` is not the start of one.
void large_give(void *pointer);

// The usable bytes of a block; dies as large_give does.
size_t large_bytes(const void *pointer);

// What a hardened process knows of a block.  Its slack, behind the usable bytes, holds the pattern.
struct large_view {
    size_t usable_bytes;
    size_t most_bytes;
    enum block_kind kind;
};

// As large_bytes.
struct large_view large_look(const void *pointer);

// Changes what is known of a live block: `bytes` at most most_bytes.  The caller holds the block.
void large_set_usable(void *pointer, size_t bytes);
void large_set_kind(void *pointer, enum block_kind kind);

// Clears a live block that is about to be freed, where its pages will be used again.
void large_clear(void *pointer);

// Changes the size of a block: in place where there is room, else elsewhere.  NULL when memory or the
// limit is reached: then the block is as before.
void *large_resize(void *pointer, size_t bytes);

// Frees all blocks of a first-class heap's list.
void large_give_all(struct span **owned);

// Tries again to unmap what the system refused to unmap.  Returns the bytes given back.  The caller
// holds no lock.
size_t large_retry_unmap(void);

// As former_bytes in struct backend.
size_t large_former_bytes(const struct span *record, uintptr_t address);

void large_read_figures(struct large_figures *figures);

// Around fork.
void large_lock(void);
void large_unlock(void);

#endif
