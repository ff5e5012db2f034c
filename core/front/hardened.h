// The hardened front: malloc and free that check, over the bins of the fused one.
// Layer: front.  Needs: base, os, region, route, harden, backend, thread.
// SPDX-License-Identifier: MIT
//
// A hardened thread's fast_limit is 0 and its match_tag matches nothing, so that the hit paths of the
// fused front lead here at once, and know nothing of it.  What a block is, its trailer says; see
// harden/trailer.h.  A free is checked before it takes effect: an address at which no block begins has
// no trailer of its own, a freed block's says so, a live one's tells the size that it was given and the
// function that gave it.  Then the block is cleared and waits in the quarantine; when it is handed out
// again it must still be clear.
//
// Until the gates are read blocks are armed here too; see harden/harden_mode.h.
#ifndef HAK_FRONT_HARDENED_H
#define HAK_FRONT_HARDENED_H

#include "harden/block_kind.h"
#include "thread/heap.h"

// Any size; NULL with errno ENOMEM.  While harden_pads().
void *hardened_malloc(size_t bytes, enum block_kind kind);

// A block of at least `bytes`, zeroed up to its usable size.
void *hardened_zeroed(size_t bytes);

// At a multiple of `align_bytes`, a power of two.
void *hardened_aligned(size_t align_bytes, size_t bytes, enum block_kind kind);

// Checks a block of a class that is about to be handed out as one of `asked_bytes`, and arms it.
// Clears it, where nothing says that it is clear.
void hardened_arm(void *block, class_id cls, size_t asked_bytes, enum block_kind kind);

// The class of a block of `bytes` that is to be armed, or 0: it must be a large one.
class_id hardened_class(size_t align_bytes, size_t bytes);

// Any pointer.  Dies unless it is a live block of that kind, untouched around, and of `given_bytes`
// (or BYTES_UNKNOWN).  While harden_pads().
void hardened_free(void *pointer, enum block_kind kind, size_t given_bytes);

// The same for a free that names an alignment, which the address must have.  While harden_is_on().
void hardened_free_aligned(void *pointer, size_t align_bytes, enum block_kind kind,
                           size_t given_bytes);

// What was asked for; dies when `pointer` is not a live block.  While harden_pads().
size_t hardened_usable_bytes(const void *pointer);

// A live block, as realloc sees it.
struct hardened_block {
    size_t asked_bytes;
    size_t most_bytes;  // what it could hold
    bool is_large;
};

// Dies unless it is a live block of the malloc family, untouched around.  While harden_is_on().
struct hardened_block hardened_look(const void *pointer);

// Makes a live block one of `bytes`, at most most_bytes.
void hardened_resize_in_place(void *pointer, const struct hardened_block *block, size_t bytes);

// Marks what operator new returned as operator new[]'s.
void hardened_mark(void *pointer, enum block_kind kind);

#endif
