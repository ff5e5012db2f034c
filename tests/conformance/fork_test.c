// A process forked in the middle of other threads' mallocs can allocate and free at once.  The argument is the
// number of forks.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 8,
    FORK_COUNT = 300,  // when no other number is given
    HELD_COUNT = 64,
    CHILD_SECONDS = 5,
    CHILD_BLOCK_COUNT = 200,
    LARGE_BYTES = 4 << 20,
};

static struct {
    _Atomic bool stop;
    _Atomic(void *) shared[HELD_COUNT];  // freed by whoever exchanges them
} churn_state;

static void *churn(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    void *held[HELD_COUNT] = {NULL};
    while (!atomic_load_explicit(&churn_state.stop, memory_order_relaxed)) {
        size_t slot = random_below(&random, HELD_COUNT);
        bool is_big = random_below(&random, 50) == 0;
        free(held[slot]);
        held[slot] = malloc(is_big ? 200 << 10 : random_below(&random, 2000));
        REQUIRE(held[slot] != NULL);
        if (random_below(&random, 4) == 0) {
            // Acquire and release: the block passes to another thread.
            held[slot] = atomic_exchange_explicit(&churn_state.shared[slot], held[slot],
                                                  memory_order_acq_rel);
        }
    }
    for (size_t i = 0; i < HELD_COUNT; i++) {
        free(held[i]);
    }
    return NULL;
}

static void *allocate_in_thread(void *unused)
{
    void *block = malloc(hidden(5000));
    EXPECT(block != NULL);
    free(block);
    return unused;
}

static void use_heap_in_child(void)
{
    void *blocks[CHILD_BLOCK_COUNT];
    for (size_t i = 0; i < CHILD_BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(i * 37));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, i * 37);
    }
    for (size_t i = 0; i < HELD_COUNT; i++) {
        free(atomic_exchange_explicit(&churn_state.shared[i], NULL, memory_order_acq_rel));
    }
    for (size_t i = 0; i < CHILD_BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    char *large = malloc(hidden(LARGE_BYTES));
    REQUIRE(large != NULL);
    large[LARGE_BYTES - 1] = 1;
    free(large);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, allocate_in_thread, NULL) == 0);
    (void)pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    size_t fork_count = argc > 1 ? strtoul(argv[1], NULL, 10) : FORK_COUNT;
    (void)alarm((unsigned)(100 + fork_count / 20));
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < fork_count; i++) {
        check_in_child("a child forked under load", use_heap_in_child, CHILD_SECONDS);
    }
    atomic_store_explicit(&churn_state.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return check_result();
}
