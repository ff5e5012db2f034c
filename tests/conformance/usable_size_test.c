// The usable size covers what was asked for, stays the same, and may be used to the last byte.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 24
};

static unsigned char *blocks[BLOCK_COUNT];
static size_t usable_bytes[BLOCK_COUNT];

static void neighbours_can_be_filled(size_t bytes)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(bytes));
        REQUIRE(blocks[i] != NULL);
        usable_bytes[i] = malloc_usable_size(blocks[i]);
        EXPECT(usable_bytes[i] >= bytes);
        memset(blocks[i], (int)i + 1, usable_bytes[i]);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        EXPECT(malloc_usable_size(blocks[i]) == usable_bytes[i]);
        EXPECT(usable_bytes[i] == 0 ||
               (blocks[i][0] == i + 1 && blocks[i][usable_bytes[i] - 1] == i + 1));
        EXPECT(usable_bytes[i] == 0 || memcmp(blocks[i], blocks[i] + 1, usable_bytes[i] - 1) == 0);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
}

// A size that grows by bytes must not waste more than the class steps promise.
static void waste_is_bounded(size_t bytes)
{
    void *block = malloc(hidden(bytes));
    REQUIRE(block != NULL);
    EXPECT_AT_MOST(malloc_usable_size(block), bytes + bytes / 4 + 4096 * (bytes > 65536) + 32);
    free(block);
}

int main(void)
{
    (void)alarm(30);
    for (size_t bytes = 0; bytes <= 1100; bytes++) {
        neighbours_can_be_filled(bytes);
        waste_is_bounded(bytes);
    }
    for (size_t bytes = 1100; bytes < 2 << 20; bytes += bytes / 9) {
        neighbours_can_be_filled(bytes);
        waste_is_bounded(bytes);
    }
    return check_result();
}
