// Blocks linked through themselves: a test that takes all there is needs no memory to remember them.
// SPDX-License-Identifier: MIT
#ifndef TESTS_BLOCK_CHAIN_H
#define TESTS_BLOCK_CHAIN_H

#include "test_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct block_chain {
    struct block_chain *next;
};

static inline void chain_push(struct block_chain **chain, struct block_chain *block)
{
    block->next = *chain;
    *chain = block;
}

// Takes and fills blocks of `bytes`, at least a pointer's, until malloc says ENOMEM.  Returns how many.
static inline size_t chain_take_until_null(struct block_chain **chain, size_t bytes)
{
    size_t count = 0;
    for (;;) {
        errno = 0;
        struct block_chain *block = malloc(hidden(bytes));
        if (block == NULL) {
            EXPECT(errno == ENOMEM);
            return count;
        }
        memset(block, 1, bytes);
        chain_push(chain, block);
        count++;
    }
}

static inline void chain_give_all(struct block_chain **chain)
{
    while (*chain != NULL) {
        struct block_chain *next = (*chain)->next;
        free(*chain);
        *chain = next;
    }
}

#endif
