// Requests of zero bytes behave as glibc's: distinct blocks that are freed, and realloc that frees.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WAY_COUNT = 9,
    ROUND_COUNT = 3
};

static void *take_nothing(size_t way)
{
    void *block = NULL;
    switch (way) {
    case 0:
        return malloc(hidden(0));
    case 1:
        return calloc(hidden(0), 8);
    case 2:
        return calloc(8, hidden(0));
    case 3:
        return calloc(hidden(0), hidden(0));
    case 4:
        return aligned_alloc(64, hidden(0));
    case 5:
        return memalign(256, hidden(0));
    case 6:
        return realloc(NULL, hidden(0));
    case 7:
        return reallocarray(NULL, hidden(0), 8);
    default:
        return posix_memalign(&block, 32, hidden(0)) == 0 ? block : NULL;
    }
}

static void blocks_of_no_bytes_are_distinct(void)
{
    void *blocks[WAY_COUNT * ROUND_COUNT];
    for (size_t i = 0; i < WAY_COUNT * ROUND_COUNT; i++) {
        blocks[i] = take_nothing(i % WAY_COUNT);
        EXPECT(blocks[i] != NULL);
        for (size_t j = 0; j < i; j++) {
            EXPECT(blocks[i] != blocks[j]);
        }
    }
    for (size_t i = 0; i < WAY_COUNT * ROUND_COUNT; i++) {
        free(blocks[i]);
    }
}

static void realloc_to_no_bytes_frees(size_t bytes)
{
    void *block = malloc(hidden(bytes));
    REQUIRE(block != NULL);
    errno = 0;
    EXPECT(realloc(block, hidden(0)) == NULL);
    EXPECT(errno == 0);
    block = malloc(hidden(bytes));
    REQUIRE(block != NULL);
    EXPECT(reallocarray(block, hidden(0), 16) == NULL);
    block = malloc(hidden(bytes));
    REQUIRE(block != NULL);
    EXPECT(reallocarray(block, 16, hidden(0)) == NULL);
}

static void realloc_to_no_bytes_does_not_leak(void)
{
    size_t first = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++) {
        EXPECT(realloc(malloc(hidden(1000)), hidden(0)) == NULL);
    }
    EXPECT_AT_MOST(mallinfo2().uordblks, first + 100000);
}

int main(void)
{
    (void)alarm(20);
    blocks_of_no_bytes_are_distinct();
    realloc_to_no_bytes_frees(1);
    realloc_to_no_bytes_frees(5000);
    realloc_to_no_bytes_frees(400000);
    realloc_to_no_bytes_frees(5000000);
    realloc_to_no_bytes_does_not_leak();
    free(NULL);
    EXPECT(malloc_usable_size(NULL) == 0);
    return check_result();
}
