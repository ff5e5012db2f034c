// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 1(00|12)-byte block"
// The last of many blocks is freed twice in a row, which is told at once, wherever freed ones wait.
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
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    misuse_free(blocks[BLOCK_COUNT - 1]);
    _exit(0);
}
