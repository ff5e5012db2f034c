// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 1(00|12)-byte block"
// So many frees that the bin overflows and finds it by itself, without a flush.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 20000
};

static void *blocks[BLOCK_COUNT];

int main(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(100);
    }
    misuse_free(blocks[7]);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    return 0;
}
