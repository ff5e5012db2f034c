// A program that has locked all its memory: what it holds stays locked while its large blocks move.
// SPDX-License-Identifier: MIT
#include "mapping_flags.h"
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 12,
    BLOCK_BYTES = 8 << 20,
    GROWN_BYTES = 11 << 20,
    STEP_BYTES = 1 << 20,
};

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    (void)alarm(60);
    for (int i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    char *small = malloc(hidden(1000));
    REQUIRE(small != NULL);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        check_skip("this machine doesn't let the process lock its memory");
    }
    for (int i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = realloc(blocks[i], hidden(GROWN_BYTES));
        REQUIRE(blocks[i] != NULL);
    }
    EXPECT(mapping_has_flag(small, " lo"));
    for (int i = 0; i < BLOCK_COUNT; i++) {
        size_t unlocked_count = 0;
        for (size_t at = 0; at < GROWN_BYTES; at += STEP_BYTES) {
            unlocked_count += !mapping_has_flag(blocks[i] + at, " lo");
        }
        EXPECT_AT_MOST(unlocked_count, 0);
    }
    return check_result();
}
