// expect: abort "hakmem: free block 0x[0-9a-f]+ was written after it was freed"
// A free block's first word is overwritten while others lie below it in the bin.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 20
};

int main(void)
{
    unsigned char *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(200);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    memset(hidden_ptr(blocks[BLOCK_COUNT / 2]), 0x41, 8);
    misuse_flush();
    return 0;
}
