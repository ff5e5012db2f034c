// Clearing freed blocks, and seeing on reuse that nobody wrote to them.
// Layer: harden.  Needs: base, harden.
// SPDX-License-Identifier: MIT
#ifndef HAK_HARDEN_WIPE_H
#define HAK_HARDEN_WIPE_H

#include "harden/trailer.h"

// Blocks are aligned to 16 bytes and their class sizes are multiples of it.
typedef uint64_t wide_word __attribute__((vector_size(16), may_alias));

enum {
    WIPE_STEP_BYTES = 4 * sizeof(wide_word)
};

// Clears all of a block but its trailer.  Short ones here; for the others a call of memset is faster.
static inline void wipe_block(void *block, size_t class_bytes)
{
    char *end = (char *)block + class_bytes - 2 * TRAILER_BYTES;
    if (class_bytes > WIPE_STEP_BYTES) {
        memset(block, 0, class_bytes - TRAILER_BYTES);
        return;
    }
    for (char *word = block; word < end; word += sizeof(wide_word)) {
        *(wide_word *)(void *)word = (wide_word){0, 0};
    }
    word_store(end, 0);
}

static inline wide_word wipe_sum(const char *address)
{
    const wide_word *words = (const wide_word *)(const void *)address;
    return words[0] | words[1] | words[2] | words[3];
}

// Is all of a block but its first word and its trailer 0?  The last step overlaps the one before it: a
// loop over the rest would be one more branch that nothing predicts.
static inline bool wipe_rest_is_whole(const void *block, size_t class_bytes)
{
    const char *word = (const char *)block + sizeof(wide_word);
    const char *end = (const char *)block + class_bytes - 2 * TRAILER_BYTES;
    wide_word sum = {0, 0};
    if (unlikely(end < word)) {
        return true;
    }
    if (likely(end - word >= WIPE_STEP_BYTES)) {
        for (const char *last = end - WIPE_STEP_BYTES; word < last; word += WIPE_STEP_BYTES) {
            sum |= wipe_sum(word);
        }
        sum |= wipe_sum(end - WIPE_STEP_BYTES);
    } else {
        for (; word < end; word += sizeof(wide_word)) {
            sum |= *(const wide_word *)(const void *)word;
        }
    }
    return (sum[0] | sum[1] | word_load(end) | word_load((const char *)block + 8)) == 0;
}

// Is a block that is about to be handed out as it was left, but for its first word?  Its trailer may be
// gone with its page.
static inline bool wipe_rest_is_clean(const void *block, size_t class_bytes)
{
    const char *trailer = (const char *)block + class_bytes - TRAILER_BYTES;
    return wipe_rest_is_whole(block, class_bytes) &&
           (word_load(trailer) == 0 ||
            trailer_is_freed(trailer_read(block, class_bytes), class_bytes));
}

static inline bool wipe_block_is_clean(const void *block, size_t class_bytes)
{
    return word_load(block) == 0 && wipe_rest_is_clean(block, class_bytes);
}

#endif
