// Clearing freed blocks, and seeing on reuse that nobody wrote to them.
// Layer: harden.  Needs: base, harden.
// SPDX-License-Identifier: MIT
#ifndef HAK_HARDEN_WIPE_H
#define HAK_HARDEN_WIPE_H

#include "harden/trailer.h"

// Blocks are aligned to 16 bytes and their class sizes are multiples of it.
typedef uint64_t wide_word __attribute__((vector_size(16), may_alias));

// Clears all of a block but its trailer.
static inline void wipe_block(void *block, size_t class_bytes)
{
    enum {
        SHORT_BYTES = 256
    };  // above, a call of memset is the faster
    char *end = (char *)block + class_bytes - 2 * TRAILER_BYTES;
    if (unlikely(class_bytes > SHORT_BYTES)) {
        memset(block, 0, class_bytes - TRAILER_BYTES);
        return;
    }
    for (char *word = block; word < end; word += sizeof(wide_word)) {
        *(wide_word *)(void *)word = (wide_word){0, 0};
    }
    word_store(end, 0);
}

// Is all of a block but its trailer 0?
static inline bool wipe_is_whole(const void *block, size_t class_bytes)
{
    enum {
        STEP_BYTES = 4 * sizeof(wide_word)
    };
    const char *word = block;
    const char *end = word + class_bytes - 2 * TRAILER_BYTES;
    wide_word sum = {0, 0};
    for (; end - word >= STEP_BYTES; word += STEP_BYTES) {
        const wide_word *words = (const wide_word *)(const void *)word;
        sum |= words[0] | words[1] | words[2] | words[3];
    }
    for (; word < end; word += sizeof(wide_word)) {
        sum |= *(const wide_word *)(const void *)word;
    }
    return (sum[0] | sum[1] | word_load(end)) == 0;
}

// Is a block that is about to be handed out as it was left?  Its trailer may be gone with its page.
static inline bool wipe_block_is_clean(const void *block, size_t class_bytes)
{
    const char *trailer = (const char *)block + class_bytes - TRAILER_BYTES;
    return wipe_is_whole(block, class_bytes) &&
           (word_load(trailer) == 0 ||
            trailer_is_freed(trailer_read(block, class_bytes), class_bytes));
}

#endif
