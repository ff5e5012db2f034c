// hardened: abort "hakmem: double free of 0x[0-9a-f]+, a 64-byte block"
// Other blocks are freed and taken in between; the second free is told without a flush.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 20
};

int main(void)
{
    void *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(64);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    blocks[0] = misuse_malloc(300);
    misuse_free(blocks[3]);
    _exit(0);
}
