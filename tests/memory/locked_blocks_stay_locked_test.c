// A program that has locked all its memory: what it holds stays locked while its large blocks move.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <stdio.h>
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

// Says /proc/self/smaps that the address lies in a locked mapping?
static bool is_locked(const void *address)
{
    char line[512];
    bool is_inside = false;
    bool is_found = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    REQUIRE(file != NULL);
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        char *rest = NULL;
        uintptr_t start = strtoul(line, &rest, 16);
        if (*rest == '-') {
            uintptr_t end = strtoul(rest + 1, NULL, 16);
            is_inside = (uintptr_t)address >= start && (uintptr_t)address < end;
        }
        is_found = is_inside && strncmp(line, "VmFlags:", 8) == 0;
    }
    REQUIRE(fclose(file) == 0 && is_found);
    return strstr(line, " lo") != NULL;
}

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
    EXPECT(is_locked(small));
    for (int i = 0; i < BLOCK_COUNT; i++) {
        size_t unlocked_count = 0;
        for (size_t at = 0; at < GROWN_BYTES; at += STEP_BYTES) {
            unlocked_count += !is_locked(blocks[i] + at);
        }
        EXPECT_AT_MOST(unlocked_count, 0);
    }
    return check_result();
}
