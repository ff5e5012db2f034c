// A program that locks all its future memory does not lock reserves of the allocator.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_GROWTH_BYTES = 64 << 20,
    LARGE_BYTES = 3 << 20,
};

static void lock_everything(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    (void)setrlimit(RLIMIT_MEMLOCK, &limit);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        check_skip("mlockall is not permitted");
    }
}

int main(void)
{
    struct timespec begin;
    struct timespec end;
    (void)alarm(20);
    lock_everything();
    size_t rss_before = process_rss_bytes();
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    char *small = malloc(hidden(100));
    char *large = malloc(hidden(LARGE_BYTES));
    REQUIRE(small != NULL && large != NULL);
    small[0] = 1;
    large[LARGE_BYTES - 1] = 1;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    EXPECT(end.tv_sec - begin.tv_sec <= 1);
    EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES);
    free(small);
    free(large);
    for (size_t bytes = 1; bytes < 8 << 20; bytes *= 2) {
        char *block = malloc(hidden(bytes));
        REQUIRE(block != NULL);
        block[bytes - 1] = 1;
        free(block);
    }
    EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES);
    return check_result();
}
