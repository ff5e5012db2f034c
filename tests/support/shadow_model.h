// Shadow model of a heap: what a program is entitled to believe of its live blocks, held apart from
// the allocator that made them.  Shared by the stress test and the fuzz programs.
// SPDX-License-Identifier: MIT
//
// The model finds: two live blocks that overlap, an address that is not aligned as asked, a usable
// size below the size asked for, content that changed, bytes that should be zero and aren't.
//
// Overlap is exact: a claim map holds one bit for every 8 bytes of the address space, set while a
// live block covers them.  A block is claimed after the allocator returned it and released before
// it is given back.  The bits are set with relaxed atomics on purpose: the model must not order the
// threads for the allocator and so hide a missing barrier from the thread sanitizer.
//
// All memory of the model comes from mmap, none from the allocator under test.  Any thread may work
// on any block, as long as no two do so on the same one at a time.
#ifndef TESTS_SHADOW_MODEL_H
#define TESTS_SHADOW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHADOW_FAULT_BYTES = 240
};

// What went wrong, as a sentence for people.  Written only by a function that returns false.
struct shadow_fault {
    char text[SHADOW_FAULT_BYTES];
};

// One live block.  The content is a function of `seed` and the offset, over usable_bytes; of a block
// above 64 KiB the ends and 64 bytes of each page are filled and checked, to save time.
struct shadow_block {
    unsigned char *address;  // NULL: no block
    size_t bytes;            // asked for; <= usable_bytes
    size_t usable_bytes;     // what the allocator says may be used, all of it claimed and filled
    size_t align_bytes;      // a power of two
    uint64_t seed;
};

struct shadow_model;

// A model without blocks.  Ends the process when mmap fails.
struct shadow_model *shadow_model_create(void);
void shadow_model_destroy(struct shadow_model *model);

// Blocks that are claimed now.  Exact while no other thread works on the model.
size_t shadow_live_count(const struct shadow_model *model);
size_t shadow_live_bytes(const struct shadow_model *model);  // by usable size

// Takes in a new block: checks its place, claims it, and fills it.
bool shadow_insert(struct shadow_model *model, const struct shadow_block *block,
                   struct shadow_fault *fault);

// Checks that the bytes from `offset` up to the usable size are zero.  Before shadow_insert.
bool shadow_check_zero(const struct shadow_block *block, size_t offset, struct shadow_fault *fault);

// Checks the content of a live block.
bool shadow_check(const struct shadow_block *block, struct shadow_fault *fault);

// Checks the content and ends the claim.  Before the block is freed or reallocated.
bool shadow_erase(struct shadow_model *model, const struct shadow_block *block,
                  struct shadow_fault *fault);

// After a successful realloc of `old`, erased before: checks that the first `kept_bytes` at
// `address` are those that `old` had.
bool shadow_check_moved(const struct shadow_block *old, const void *address, size_t kept_bytes,
                        struct shadow_fault *fault);

// After a failed realloc of `old`, erased before: it must be untouched, and is live again.
bool shadow_restore(struct shadow_model *model, const struct shadow_block *old,
                    struct shadow_fault *fault);

// Zeroed memory for tests, outside every heap.  Ends the process when mmap fails.
void *shadow_map(size_t bytes);
void shadow_unmap(void *address, size_t bytes);

#endif
