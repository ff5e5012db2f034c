// Links between free blocks, coded so that damage shows.
// Layer: harden.  Needs: base.
// SPDX-License-Identifier: MIT
//
// A free block in a bin holds the next one in its first word: byte-swapped, then combined with the
// heap's key.  An overflow writes low bytes first, which the swap makes the high bits of the
// address, so that what is decoded is not a canonical address; the key keeps an attacker who can't
// read memory from writing a link of his choice.
#ifndef HAK_HARDEN_LINK_H
#define HAK_HARDEN_LINK_H

#include "base/compiler.h"

#include <stdint.h>

struct block {
    uint64_t link;
};

static HAK_HOT struct block *link_decode(uint64_t link, uint64_t key)
{
    return (struct block *)(uintptr_t)__builtin_bswap64(link ^ key);
}

static HAK_HOT uint64_t link_encode(const struct block *next, uint64_t key)
{
    return __builtin_bswap64((uintptr_t)next) ^ key;
}

#endif
