// A process ends, by exit, quick_exit or _exit, while its other threads go on allocating and
// freeing each other's blocks: it ends with its own status.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "random_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 40,
    THREAD_COUNT = 8,
    SHARED_COUNT = 64,
    BYTES_MOST = 3000,
    LARGE_BYTES = 300 << 10,
    CHILD_SECONDS = 10,
};

static struct {
    _Atomic(void *) shared[SHARED_COUNT];  // freed by whoever exchanges them
    pthread_barrier_t start;
    size_t round;
} stage;

static void *churn(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    (void)pthread_barrier_wait(&stage.start);
    for (;;) {
        size_t bytes =
            random_below(&random, 100) == 0 ? LARGE_BYTES : random_below(&random, BYTES_MOST);
        void *block = malloc(bytes);
        REQUIRE(block != NULL);
        // Acquire and release: the block passes to another thread.
        free(atomic_exchange_explicit(&stage.shared[random_below(&random, SHARED_COUNT)], block,
                                      memory_order_acq_rel));
    }
    return NULL;
}

static void allocate_at_exit(void)
{
    void *blocks[SHARED_COUNT];
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        blocks[i] = malloc(hidden(i * 100));
        REQUIRE(blocks[i] != NULL);
    }
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        free(blocks[i]);
    }
}

// Every third is ended by the _exit of check_in_child.
static void end_early(void)
{
    pthread_t thread;
    REQUIRE(atexit(allocate_at_exit) == 0 && at_quick_exit(allocate_at_exit) == 0);
    REQUIRE(pthread_barrier_init(&stage.start, NULL, THREAD_COUNT + 1) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&thread, NULL, churn, (void *)(i + 1)) == 0);
    }
    (void)pthread_barrier_wait(&stage.start);
    (void)usleep((useconds_t)(stage.round % 10 * 300));
    switch (stage.round % 3) {
    case 0:
        exit(check_result());
    case 1:
        quick_exit(check_result());
    default:
        break;
    }
}

int main(void)
{
    (void)alarm(60);
    for (stage.round = 0; stage.round < ROUND_COUNT; stage.round++) {
        check_in_child("a process that ends", end_early, CHILD_SECONDS);
    }
    return check_result();
}
