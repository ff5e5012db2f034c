// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 64-byte block"
// Other blocks of the size are freed in between, so the second free does not meet the first.
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
    misuse_free(blocks[3]);
    misuse_flush();
    return 0;
}
