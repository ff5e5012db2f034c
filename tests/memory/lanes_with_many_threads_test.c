// What hundreds of threads hold for a few blocks each: the backends MID_V3 and POOL, and the learner that
// chooses the first, against threads' own slabs.
// SPDX-License-Identifier: MIT
//
// The program runs itself once for each, as a setting of the start, and reads what both say.
#include "process_memory.h"
#include "run_self.h"
#include "test_check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 256,
    STACK_BYTES = 64 << 10,
    SIZE_LEAST = 272,  // the band C6: a class for each step of 16 bytes
    SIZE_MOST = 512,
    SIZE_STEP = 16,
    HELD_OF_EACH = 2,
    SIZE_COUNT = (SIZE_MOST - SIZE_LEAST) / SIZE_STEP + 1,
};

static pthread_barrier_t barrier;

static void *hold_a_few(void *unused)
{
    void *blocks[SIZE_COUNT * HELD_OF_EACH];
    size_t count = 0;
    for (size_t bytes = SIZE_LEAST; bytes <= SIZE_MOST; bytes += SIZE_STEP) {
        for (int i = 0; i < HELD_OF_EACH; i++) {
            blocks[count] = malloc(hidden(bytes));
            REQUIRE(blocks[count] != NULL);
            memset(blocks[count++], 1, bytes);
        }
    }
    (void)pthread_barrier_wait(&barrier);  // all hold theirs
    (void)pthread_barrier_wait(&barrier);  // the RSS has been read
    while (count != 0) {
        free(blocks[--count]);
    }
    return unused;
}

// The RSS that the threads' blocks brought, beside that of the threads themselves.
static size_t measure(void)
{
    pthread_t threads[THREAD_COUNT];
    pthread_attr_t attributes;
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREAD_COUNT + 1) == 0);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0);
    size_t before_bytes = process_rss_bytes();
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], &attributes, hold_a_few, NULL) == 0);
    }
    (void)pthread_barrier_wait(&barrier);
    size_t bytes = process_rss_bytes() - before_bytes;
    (void)pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    (void)alarm(100);
    if (argc == 2) {
        (void)printf("%zu\n", measure());
        return check_result();
    }
    size_t own_bytes = run_self_for_number(argv[0], "measure", "HAKMEM_MID_V3_ENABLED=off");
    size_t lane_bytes = run_self_for_number(argv[0], "measure", "HAKMEM_MID_V3_ENABLED=on");
    size_t pool_bytes = run_self_for_number(argv[0], "measure", "HAKMEM_TINY_PROFILE=off");
    size_t learned_bytes = run_self_for_number(argv[0], "measure", "HAKMEM_LEARNER=on");
    (void)printf(
        "%d threads: %zu kB with slabs of their own, %zu kB with lanes, %zu kB with the pool, "
        "%zu kB with the learner\n",
        THREAD_COUNT, own_bytes / 1000, lane_bytes / 1000, pool_bytes / 1000, learned_bytes / 1000);
    EXPECT_AT_MOST(pool_bytes, lane_bytes + lane_bytes / 10);
    EXPECT_AT_MOST(lane_bytes, own_bytes / 2);
    EXPECT_AT_MOST(learned_bytes, own_bytes / 2);
    return check_result();
}
