// A fork stops the other threads anywhere, also half-way through taking or freeing a block.  In the
// child new threads take over what those left, and use it up to its last block.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHURNER_COUNT = 4,
    FORK_COUNT = 300,
    CHILD_SECONDS = 10,
    BLOCK_BYTES = 48,
    FEWEST_BLOCKS = 28,  // about what a thread has in stock: the last one is the one that matters
    STEP_COUNT = 8,
    WAIT_US = 200,
};

static struct {
    _Atomic bool stop;
    size_t block_count;  // that each thread of the child takes
} stage;

static void *churn(void *unused)
{
    while (!atomic_load_explicit(&stage.stop, memory_order_relaxed)) {
        free(hidden_ptr(malloc(hidden(BLOCK_BYTES))));
    }
    return unused;
}

static void *use_up_stock(void *unused)
{
    for (size_t i = 0; i < stage.block_count; i++) {
        void *block = malloc(hidden(BLOCK_BYTES));
        REQUIRE(block != NULL);
        memset(block, 1, BLOCK_BYTES);
    }
    return unused;
}

static void take_over_in_child(void)
{
    pthread_t threads[CHURNER_COUNT];
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, use_up_stock, NULL) == 0);
    }
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    pthread_t threads[CHURNER_COUNT];
    (void)alarm(100);
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    }
    for (size_t i = 0; i < FORK_COUNT && check_result() == 0; i++) {
        (void)usleep(WAIT_US);
        stage.block_count = FEWEST_BLOCKS + i % STEP_COUNT;
        check_in_child("a child whose threads take over", take_over_in_child, CHILD_SECONDS);
    }
    atomic_store_explicit(&stage.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return check_result();
}
