// Runs of bits in words and bitmaps.
// Layer: base.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_BASE_BIT_RUNS_H
#define HAK_BASE_BIT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bits [low, high] of one word.
static inline uint64_t bits_between(size_t low, size_t high)
{
    return (~0ull << low) & (~0ull >> (63 - high));
}

// The lowest run of set bits of a word that has one: the carry of the addition clears it.
static inline uint64_t bits_lowest_run(uint64_t word)
{
    uint64_t lowest = word & (~word + 1);
    return word & ~(word + lowest);
}

static inline void bits_set_first(uint64_t *words, size_t count)
{
    size_t whole = count / 64;
    for (size_t word = 0; word < whole; word++) {
        words[word] = ~0ull;
    }
    if (count % 64 != 0) {
        words[whole] = bits_between(0, count % 64 - 1);
    }
}

static inline bool bits_are_all_set(const uint64_t *words, size_t first, size_t last)
{
    for (size_t word = first / 64; word <= last / 64; word++) {
        size_t low = word == first / 64 ? first % 64 : 0;
        size_t high = word == last / 64 ? last % 64 : 63;
        uint64_t wanted = bits_between(low, high);
        if ((words[word] & wanted) != wanted) {
            return false;
        }
    }
    return true;
}

#endif
