// hardened: harmless
// What others freed is read in a new block, where it is large.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 64,
    BLOCK_BYTES = 256 << 10
};

static unsigned char *blocks[BLOCK_COUNT];

int main(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(BLOCK_BYTES);
        misuse_write(blocks[i], 0, BLOCK_BYTES, 'A');
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (misuse_has(misuse_malloc(BLOCK_BYTES), BLOCK_BYTES, 'A')) {
            return 0;
        }
    }
    return MISUSE_HARMLESS;
}
