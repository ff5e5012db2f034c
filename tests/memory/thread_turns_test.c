// Work that moves round a pool of threads, one at a time: the threads don't keep a peak each.
// SPDX-License-Identifier: MIT
//
// Argument: the number of turns.
#include "process_memory.h"
#include "random_stream.h"
#include "shadow_model.h"
#include "test_check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 20,
    BURST_BYTES = 150 << 20,
    BLOCK_MOST = 1 << 20,
};

static struct {
    sem_t turn[THREAD_COUNT];
    sem_t done;
    _Atomic bool stop;
    void **blocks;
    struct random_stream random;
} pool;

static size_t draw_size(void)
{
    size_t kind = random_below(&pool.random, 100);
    return kind < 70 ? 16 + random_below(&pool.random, 500)
                     : (kind < 99 ? random_below(&pool.random, 8000) + 1
                                  : random_below(&pool.random, 400000) + 1);
}

static void take_and_give_a_burst(void)
{
    size_t count = 0;
    for (size_t held_bytes = 0; held_bytes < BURST_BYTES && count < BLOCK_MOST; count++) {
        size_t bytes = draw_size();
        pool.blocks[count] = malloc(bytes);
        REQUIRE(pool.blocks[count] != NULL);
        memset(pool.blocks[count], 1, bytes);
        held_bytes += bytes;
    }
    for (size_t i = 0; i < count; i++) {
        free(pool.blocks[i]);
    }
}

static void *serve(void *argument)
{
    size_t index = (uintptr_t)argument;
    for (;;) {
        (void)sem_wait(&pool.turn[index]);
        if (atomic_load_explicit(&pool.stop, memory_order_relaxed)) {
            return NULL;
        }
        take_and_give_a_burst();
        (void)sem_post(&pool.done);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    (void)alarm(200);
    REQUIRE(argc == 2);
    size_t turn_count = strtoull(argv[1], NULL, 10);
    pool.blocks = shadow_map(BLOCK_MOST * sizeof(void *));
    pool.random.state = 11;
    (void)sem_init(&pool.done, 0, 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)sem_init(&pool.turn[i], 0, 0);
        REQUIRE(pthread_create(&threads[i], NULL, serve, (void *)i) == 0);
    }
    process_reset_peak();
    for (size_t i = 0; i < turn_count; i++) {
        (void)sem_post(&pool.turn[i < THREAD_COUNT ? i : random_below(&pool.random, THREAD_COUNT)]);
        (void)sem_wait(&pool.done);
    }
    EXPECT_AT_MOST(process_peak_rss_bytes(), 2ul * BURST_BYTES);
    EXPECT_AT_MOST(process_await_rss(BURST_BYTES / 2, 2000), BURST_BYTES / 2);
    (void)printf("peak %zu MB\n", process_peak_rss_bytes() >> 20);
    atomic_store_explicit(&pool.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)sem_post(&pool.turn[i]);
        (void)pthread_join(threads[i], NULL);
    }
    return check_result();
}
