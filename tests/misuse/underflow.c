// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a [0-9]+-byte block"
// What lies before a block is the trailer of its neighbour, which is found when that is freed.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 64
};

int main(void)
{
    unsigned char *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(40);
    }
    // The lowest one may have nothing before it.
    unsigned char *lowest = blocks[0];
    for (size_t i = 1; i < BLOCK_COUNT; i++) {
        lowest = blocks[i] < lowest ? blocks[i] : lowest;
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (blocks[i] != lowest) {
            misuse_write(blocks[i], -1, 1, (unsigned char)~blocks[i][-(ptrdiff_t)hidden(1)]);
        }
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    return 0;
}
