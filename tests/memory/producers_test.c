// Producers allocate and a consumer only frees: while they go on, when they stop, and when they end, what
// is resident stays below twice what may be live, and flat.
// SPDX-License-Identifier: MIT
//
// Argument: "go_on", "stop" (they sleep until the end) or "end".
#include "process_memory.h"
#include "random_stream.h"
#include "shadow_model.h"
#include "test_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PRODUCER_COUNT = 4,
    LOT_BYTES = 16 << 20,  // of one producer
    LOT_BLOCKS_MOST = 100000,
    ROUND_COUNT = 24,
    WARM_COUNT = 6,
    LIVE_BYTES = PRODUCER_COUNT * LOT_BYTES,
    FLAT_BYTES = 8 << 20,
    LEFT_BYTES = 24 << 20,
    SLEEPER_BYTES = 640 << 10,  // that a sleeping thread holds: its mailbox and its bins
};

static struct {
    bool ends;   // a producer makes one lot and ends
    bool stops;  // a producer makes one lot and sleeps
    pthread_barrier_t barrier;
    void **lots[PRODUCER_COUNT];
    size_t counts[PRODUCER_COUNT];
    _Atomic bool is_over;
} work;

static void make_lot(size_t producer, size_t round)
{
    struct random_stream random = {.state = round * PRODUCER_COUNT + producer};
    size_t count = 0;
    for (size_t held_bytes = 0; held_bytes < LOT_BYTES && count < LOT_BLOCKS_MOST; count++) {
        size_t bytes = 16 + random_below(&random, random_below(&random, 50) == 0 ? 20000 : 600);
        work.lots[producer][count] = malloc(bytes);
        REQUIRE(work.lots[producer][count] != NULL);
        memset(work.lots[producer][count], 1, bytes);
        held_bytes += bytes;
    }
    work.counts[producer] = count;
}

static void *produce_once(void *argument)
{
    make_lot((uintptr_t)argument % PRODUCER_COUNT, (uintptr_t)argument / PRODUCER_COUNT);
    if (work.stops) {
        (void)pthread_barrier_wait(&work.barrier);
        while (!atomic_load_explicit(&work.is_over, memory_order_relaxed)) {
            sleep_ms(10);
        }
    }
    return NULL;
}

static void *produce_always(void *argument)
{
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        make_lot((uintptr_t)argument, round);
        (void)pthread_barrier_wait(&work.barrier);  // made
        (void)pthread_barrier_wait(&work.barrier);  // freed
    }
    return NULL;
}

// Other threads each round; those that stop stay.
static void make_with_fresh_threads(size_t round, pthread_t *threads)
{
    for (size_t i = 0; i < PRODUCER_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, produce_once,
                               (void *)(round * PRODUCER_COUNT + i)) == 0);
    }
    if (work.stops) {
        (void)pthread_barrier_wait(&work.barrier);
        return;
    }
    for (size_t i = 0; i < PRODUCER_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void free_lots(void)
{
    for (size_t i = 0; i < PRODUCER_COUNT; i++) {
        for (size_t j = 0; j < work.counts[i]; j++) {
            free(work.lots[i][j]);
        }
    }
}

// What the threads that sleep may hold.
static size_t sleepers_bytes(size_t round_count)
{
    return work.stops ? round_count * PRODUCER_COUNT * SLEEPER_BYTES : 0;
}

static void run_rounds(pthread_t (*threads)[PRODUCER_COUNT])
{
    size_t warm_bytes = 0;
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        if (work.ends || work.stops) {
            make_with_fresh_threads(round, threads[round]);
        } else {
            (void)pthread_barrier_wait(&work.barrier);
        }
        size_t full_bytes = process_rss_bytes();
        free_lots();
        if (round == WARM_COUNT) {
            warm_bytes = full_bytes;
        } else if (round > WARM_COUNT) {
            EXPECT_AT_MOST(full_bytes,
                           warm_bytes + FLAT_BYTES + sleepers_bytes(round - WARM_COUNT));
        }
        if (!work.ends && !work.stops) {
            (void)pthread_barrier_wait(&work.barrier);
        }
    }
}

static void end_threads(pthread_t (*threads)[PRODUCER_COUNT])
{
    atomic_store_explicit(&work.is_over, true, memory_order_relaxed);
    for (size_t round = 0; round < (work.stops ? ROUND_COUNT : 1) && !work.ends; round++) {
        for (size_t i = 0; i < PRODUCER_COUNT; i++) {
            (void)pthread_join(threads[round][i], NULL);
        }
    }
}

int main(int argc, char **argv)
{
    static pthread_t threads[ROUND_COUNT][PRODUCER_COUNT];
    (void)alarm(100);
    REQUIRE(argc == 2);
    work.ends = strcmp(argv[1], "end") == 0;
    work.stops = strcmp(argv[1], "stop") == 0;
    REQUIRE(pthread_barrier_init(&work.barrier, NULL, PRODUCER_COUNT + 1) == 0);
    for (size_t i = 0; i < PRODUCER_COUNT; i++) {
        work.lots[i] = shadow_map(LOT_BLOCKS_MOST * sizeof(void *));
        if (!work.ends && !work.stops) {
            REQUIRE(pthread_create(&threads[0][i], NULL, produce_always, (void *)i) == 0);
        }
    }
    run_rounds(threads);
    EXPECT_AT_MOST(process_peak_rss_bytes(), 2 * LIVE_BYTES + sleepers_bytes(ROUND_COUNT));
    size_t left_most = LEFT_BYTES + sleepers_bytes(ROUND_COUNT);
    size_t left_bytes = process_await_rss(left_most, 2000);
    EXPECT_AT_MOST(left_bytes, left_most);
    (void)printf("peak %zu MiB of %d live, %zu MiB left\n", process_peak_rss_bytes() >> 20,
                 LIVE_BYTES >> 20, left_bytes >> 20);
    end_threads(threads);
    return check_result();
}
