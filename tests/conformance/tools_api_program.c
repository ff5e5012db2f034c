// A program that uses the prefixed functions, for tools_test.sh.
// SPDX-License-Identifier: MIT
#include "hakmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_COUNT = 1000
};

int main(void)
{
    char *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(i * 37);
        memset(blocks[i], 1, i * 37);
        free(malloc(i));
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(blocks[i]);
    }
    (void)puts("sound");
    return 0;
}
