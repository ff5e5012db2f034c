// Trailer: the last eight bytes of a block's class size, which say what was asked for.
// Layer: harden.  Needs: base.
// SPDX-License-Identifier: MIT
//
//   | asked for ......... | slack, a pattern | trailer |      class size = all three
//
// A trailer is a word of the slack's length, the block's kind and 24 bits of 0, combined with a hash of
// the block's address and the process's key.  So no trailer is good at another address, an address in
// the middle of a block decodes to one by chance of 2^-24 only, and nothing that a program can read in
// its blocks tells it what a trailer should be.  The 24 bits come first in memory: an overflow meets them
// first.  The lowest bit of the hash is set, so the first byte is never the 0 that ends a string.
//
// A free block holds zeros, but for its first word while it is linked in a bin, and its trailer, which
// is 0 or says KIND_FREED.
#ifndef HAK_HARDEN_TRAILER_H
#define HAK_HARDEN_TRAILER_H

#include "base/bits.h"
#include "harden/block_kind.h"
#include "harden/harden_mode.h"

#include <string.h>

enum {
    TRAILER_BYTES = 8,
    SLACK_CHECKED_MOST = 64,  // bytes of it: an overflow comes by them
    TRAILER_MAGIC_BITS = 24,
    TRAILER_SLACK_SHIFT = 32,
};

static inline uint64_t word_load(const void *address)
{
    uint64_t word = 0;
    memcpy(&word, address, sizeof word);
    return word;
}

static inline void word_store(void *address, uint64_t word)
{
    memcpy(address, &word, sizeof word);
}

static inline uint64_t trailer_mask(const void *block)
{
    uint64_t hash = ((uintptr_t)block ^ harden.key) * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 32) | 1;
}

// What the trailer says; see the functions below.
static inline uint64_t trailer_read(const void *block, size_t class_bytes)
{
    return word_load((const char *)block + class_bytes - TRAILER_BYTES) ^ trailer_mask(block);
}

static inline void trailer_write(void *block, size_t class_bytes, size_t slack_bytes,
                                 enum block_kind kind)
{
    uint64_t code = (uint64_t)slack_bytes << TRAILER_SLACK_SHIFT | (uint64_t)kind
                                                                       << TRAILER_MAGIC_BITS;
    word_store((char *)block + class_bytes - TRAILER_BYTES, code ^ trailer_mask(block));
}

static inline enum block_kind trailer_kind(uint64_t code)
{
    return (enum block_kind)(code >> TRAILER_MAGIC_BITS & 255);
}

static inline size_t trailer_slack(uint64_t code)
{
    return code >> TRAILER_SLACK_SHIFT;
}

// Is it a trailer, of a live block or a freed one, of a block of that class?
static inline bool trailer_is_good(uint64_t code, size_t class_bytes)
{
    return (code & ((1u << TRAILER_MAGIC_BITS) - 1)) == 0 &&
           trailer_slack(code) <= class_bytes - TRAILER_BYTES;
}

static inline bool trailer_is_live(uint64_t code, size_t class_bytes)
{
    return trailer_is_good(code, class_bytes) && trailer_kind(code) < KIND_COUNT;
}

static inline bool trailer_is_freed(uint64_t code, size_t class_bytes)
{
    return trailer_is_good(code, class_bytes) && trailer_kind(code) == KIND_FREED;
}

// The last `count` bytes of a word, as a mask; all of them from 8 on.
static inline uint64_t last_bytes_mask(size_t count)
{
    return count >= 8 ? ~0ull : ~(~0ull >> (8 * count));
}

static inline void slack_fill_word(char *word, size_t count)
{
    uint64_t mask = last_bytes_mask(count);
    word_store(word, (word_load(word) & ~mask) | (harden.pattern & mask));
}

static inline uint64_t slack_word_damage(const char *word, size_t count)
{
    return (word_load(word) ^ harden.pattern) & last_bytes_mask(count);
}

// The bytes of slack in the word before the last one, of up to 16.
static inline size_t slack_before_last(size_t slack_bytes)
{
    return slack_bytes - min_size(slack_bytes, 8);
}

// Fills the slack of a block of `most_bytes`.  Tiny classes have at most two words of it, which are both
// looked at whatever it is: a branch on it would be mispredicted every other time.
static inline void slack_fill(char *block, size_t most_bytes, size_t slack_bytes)
{
    char *end = block + most_bytes;
    if (unlikely(slack_bytes > 16)) {
        memset(end - slack_bytes, (int)(harden.pattern & 255),
               min_size(slack_bytes, SLACK_CHECKED_MOST));
        return;
    }
    slack_fill_word(end - 8, slack_bytes);
    if (likely(most_bytes >= 16)) {
        slack_fill_word(end - 16, slack_before_last(slack_bytes));
    }
}

static inline bool slack_is_whole(const char *block, size_t most_bytes, size_t slack_bytes)
{
    const char *end = block + most_bytes;
    uint64_t damage = 0;
    if (unlikely(slack_bytes > 16)) {
        size_t count = min_size(slack_bytes, SLACK_CHECKED_MOST);
        for (const char *word = end - slack_bytes; count >= 8; count -= 8, word += 8) {
            damage |= word_load(word) ^ harden.pattern;
        }
        return damage == 0;
    }
    damage = slack_word_damage(end - 8, slack_bytes);
    if (likely(most_bytes >= 16)) {
        damage |= slack_word_damage(end - 16, slack_before_last(slack_bytes));
    }
    return damage == 0;
}

// Makes a clean block one that is handed out.
static inline void trailer_arm(void *block, size_t class_bytes, size_t asked_bytes,
                               enum block_kind kind)
{
    size_t slack_bytes = class_bytes - TRAILER_BYTES - asked_bytes;
    slack_fill(block, class_bytes - TRAILER_BYTES, slack_bytes);
    trailer_write(block, class_bytes, slack_bytes, kind);
}

#endif
