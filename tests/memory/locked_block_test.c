// A long block that the program has locked in memory and not unlocked before it freed it keeps itself
// resident, and nothing else.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LOCKED_BYTES = 20 << 20,
    BLOCK_COUNT = 300,
    BLOCK_BYTES = 1 << 20,
    FENCE_BYTES = 300000,
    LEFT_BYTES = (50 << 20) + BLOCK_COUNT * FENCE_BYTES,  // a huge page made the fences resident
};

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    static char *fences[BLOCK_COUNT];
    (void)alarm(60);
    size_t start_bytes = process_rss_bytes();
    char *locked = malloc(hidden(LOCKED_BYTES));
    REQUIRE(locked != NULL);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        fences[i] = malloc(hidden(FENCE_BYTES));
        REQUIRE(blocks[i] != NULL && fences[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    if (mlock(locked, LOCKED_BYTES) != 0) {
        check_skip("this machine doesn't let the process lock its memory");
    }
    free(locked);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    (void)malloc_trim(0);
    EXPECT_AT_MOST(process_rss_bytes() - start_bytes, LEFT_BYTES);
    return check_result();
}
