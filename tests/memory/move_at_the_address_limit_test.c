// A large block that must move while the process has more address space than RLIMIT_AS allows: realloc
// may fail, but the block stays whole, and what it returns is mapped.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 12,
    BLOCK_BYTES = 8 << 20,
    STEP_BYTES = 4096,
    LIMIT_BYTES = 64 << 20,
};

static void check_content(const char *block, char content)
{
    for (size_t at = 0; at < BLOCK_BYTES; at += STEP_BYTES) {
        REQUIRE(block[at] == content);
    }
}

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    (void)alarm(30);
    for (int i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], i + 1, BLOCK_BYTES);
    }
    REQUIRE(setrlimit(RLIMIT_AS, &(struct rlimit){LIMIT_BYTES, RLIM_INFINITY}) == 0);
    for (int i = 0; i < BLOCK_COUNT; i++) {
        size_t bytes = hidden(BLOCK_BYTES + (size_t)(i + 4) * (BLOCK_BYTES / 32));
        char *grown = realloc(blocks[i], bytes);
        if (grown == NULL) {
            check_content(blocks[i], (char)(i + 1));
            continue;
        }
        check_content(grown, (char)(i + 1));
        memset(grown, i + 1, bytes);
        blocks[i] = grown;
    }
    return check_result();
}
