// hardened: harmless
// What others freed is read in a new block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 4096
};

static unsigned char *blocks[BLOCK_COUNT];

int main(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(256);
        misuse_write(blocks[i], 0, 256, 'A');
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        misuse_free(blocks[i]);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (misuse_has(misuse_malloc(256), 256, 'A')) {
            return 0;
        }
    }
    return MISUSE_HARMLESS;
}
