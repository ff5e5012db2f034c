// Freed memory goes back to the system by itself: 300 MB of small blocks, freed in random order, and
// then no call.  Within two seconds the RSS is below a tenth of its peak plus 8 MB.
// SPDX-License-Identifier: MIT
//
// Arguments: SIZE (16, 64, 1000 or mixed), FREER (owner or other), BURSTS, and perhaps "trim": then
// malloc_trim is called at the end, which makes it a test that glibc can pass.
#include "process_memory.h"
#include "shadow_model.h"
#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TOTAL_BYTES = 300000000,
    IDLE_THREAD_COUNT = 9,
    IDLE_BLOCK_COUNT = 300,
    SLACK_BYTES = 8 << 20,
    WAIT_MS = 2000,
};

static struct {
    size_t block_bytes;  // 0: mixed
    size_t block_count;
    size_t index_bits;  // block_count <= 1 << index_bits
    size_t burst_count;
    bool other_frees;
    bool trims;
    void **blocks;
    pthread_barrier_t idle_barrier;
    pthread_barrier_t freer_barrier;
} work;

static size_t size_of(size_t index)
{
    static const size_t mixed[] = {16, 64, 1000};
    return work.block_bytes != 0 ? work.block_bytes : mixed[index * 2654435761u % 997 % 3];
}

// Visits each number below 1 << index_bits once, in an order without pattern.
static size_t shuffled(size_t number)
{
    size_t mask = ((size_t)1 << work.index_bits) - 1;
    for (int i = 0; i < 3; i++) {
        number = (number * 0x9E3779B97F4A7C15u + 12345) & mask;
        number ^= number >> (work.index_bits / 2);
    }
    return number;
}

static void take_all(void)
{
    for (size_t i = 0; i < work.block_count; i++) {
        work.blocks[i] = malloc(size_of(i));
        REQUIRE(work.blocks[i] != NULL);
        memset(work.blocks[i], 1, size_of(i));
    }
}

static void give_all(void)
{
    for (size_t i = 0; i < (size_t)1 << work.index_bits; i++) {
        size_t index = shuffled(i);
        if (index < work.block_count) {
            free(work.blocks[index]);
        }
    }
}

static void *stay_idle(void *unused)
{
    void *blocks[IDLE_BLOCK_COUNT];
    for (size_t i = 0; i < IDLE_BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(size_of(i)));
        REQUIRE(blocks[i] != NULL);
    }
    for (size_t i = 0; i < IDLE_BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    (void)pthread_barrier_wait(&work.idle_barrier);  // all are idle from here
    (void)pthread_barrier_wait(&work.idle_barrier);  // the test is over
    return unused;
}

static void *free_for_another(void *unused)
{
    for (size_t i = 0; i < work.burst_count; i++) {
        (void)pthread_barrier_wait(&work.freer_barrier);
        give_all();
        (void)pthread_barrier_wait(&work.freer_barrier);
    }
    (void)pthread_barrier_wait(&work.freer_barrier);  // alive until the test is over
    return unused;
}

// Returns the RSS of the blocks at the peak of the last burst.
static size_t run_bursts(void)
{
    size_t peak_bytes = 0;
    for (size_t i = 0; i < work.burst_count; i++) {
        take_all();
        peak_bytes = process_rss_bytes() - work.block_count * sizeof(void *);
        if (work.other_frees) {
            (void)pthread_barrier_wait(&work.freer_barrier);
            (void)pthread_barrier_wait(&work.freer_barrier);
        } else {
            give_all();
        }
    }
    return peak_bytes;
}

static void parse(int argc, char **argv)
{
    REQUIRE(argc == 4 || argc == 5);
    work.block_bytes = strtoull(argv[1], NULL, 10);
    work.other_frees = strcmp(argv[2], "other") == 0;
    work.burst_count = strtoull(argv[3], NULL, 10);
    work.trims = argc == 5 && strcmp(argv[4], "trim") == 0;
    size_t mean_bytes = work.block_bytes != 0 ? work.block_bytes : (16 + 64 + 1000) / 3;
    work.block_count = TOTAL_BYTES / mean_bytes;
    while ((size_t)1 << work.index_bits < work.block_count) {
        work.index_bits++;
    }
}

static void start_threads(pthread_t *idle_threads, pthread_t *freer)
{
    REQUIRE(pthread_barrier_init(&work.idle_barrier, NULL, IDLE_THREAD_COUNT + 1) == 0);
    REQUIRE(pthread_barrier_init(&work.freer_barrier, NULL, 2) == 0);
    for (size_t i = 0; i < IDLE_THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&idle_threads[i], NULL, stay_idle, NULL) == 0);
    }
    (void)pthread_barrier_wait(&work.idle_barrier);
    if (work.other_frees) {
        REQUIRE(pthread_create(freer, NULL, free_for_another, NULL) == 0);
    }
}

static void end_threads(const pthread_t *idle_threads, pthread_t freer)
{
    (void)pthread_barrier_wait(&work.idle_barrier);
    for (size_t i = 0; i < IDLE_THREAD_COUNT; i++) {
        (void)pthread_join(idle_threads[i], NULL);
    }
    if (work.other_frees) {
        (void)pthread_barrier_wait(&work.freer_barrier);
        (void)pthread_join(freer, NULL);
    }
}

int main(int argc, char **argv)
{
    pthread_t idle_threads[IDLE_THREAD_COUNT];
    pthread_t freer = 0;
    (void)alarm(300);
    parse(argc, argv);
    work.blocks = shadow_map(work.block_count * sizeof(void *));
    start_threads(idle_threads, &freer);
    size_t peak_bytes = run_bursts();
    shadow_unmap(work.blocks, work.block_count * sizeof(void *));
    if (work.trims) {
        (void)malloc_trim(0);
    }
    size_t left_bytes = process_await_rss(peak_bytes / 10 + SLACK_BYTES, WAIT_MS);
    EXPECT(peak_bytes >= TOTAL_BYTES / 10 * 9);
    EXPECT_AT_MOST(left_bytes, peak_bytes / 10 + SLACK_BYTES);
    (void)printf("peak %zu MB, left %zu MB\n", peak_bytes / 1000000, left_bytes / 1000000);
    end_threads(idle_threads, freer);
    return check_result();
}
