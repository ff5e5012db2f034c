// expect: missed
// Strings that fill their blocks have no end, and what lies behind is read with them.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 64
};

int main(void)
{
    char *blocks[BLOCK_COUNT];
    size_t bytes[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = (char *)misuse_malloc(16);
        bytes[i] = malloc_usable_size(blocks[i]);
        memset(blocks[i], 'a', bytes[i]);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (strlen(blocks[i]) != bytes[i]) {
            return 0;
        }
    }
    return MISUSE_HARMLESS;
}
