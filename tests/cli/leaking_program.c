// Leaves 1000 blocks of 1000 bytes and one of 4 MiB when it ends.
// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_COUNT = 1000,
    SMALL_BYTES = 1000,
    LARGE_BYTES = 4 << 20
};

static void *blocks[SMALL_COUNT + 1];

int main(void)
{
    for (size_t i = 0; i < SMALL_COUNT; i++) {
        blocks[i] = malloc(SMALL_BYTES);
        if (blocks[i] == NULL) {
            return EXIT_FAILURE;
        }
        memset(blocks[i], 1, SMALL_BYTES);
    }
    blocks[SMALL_COUNT] = malloc(LARGE_BYTES);
    if (blocks[SMALL_COUNT] == NULL) {
        return EXIT_FAILURE;
    }
    return puts("left") < 0;
}
