// Threads end while others free their blocks, so that what is left of their heaps moves to new
// threads.  The figures still add up: nothing is in use when every block is free.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SLOT_COUNT = 20000,
    BLOCK_BYTES = 32 << 10,
    MAKER_COUNT = 6,
    FREER_COUNT = 3,
    MADE_EACH = 64,
    ROUND_COUNT = 2000,
    LEFT_BYTES = 64 << 10,  // of libc's own and of threads' caches
};

static struct {
    _Atomic bool stop;
    _Atomic(void *) slots[SLOT_COUNT];  // freed by whoever exchanges them
} shared;

// Acquire and release: the block passes to another thread.
static void put(size_t slot, void *block)
{
    free(atomic_exchange_explicit(&shared.slots[slot], block, memory_order_acq_rel));
}

static void *make_blocks(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    for (size_t i = 0; i < MADE_EACH; i++) {
        void *block = malloc(hidden(BLOCK_BYTES));
        REQUIRE(block != NULL);
        put(random_below(&random, SLOT_COUNT), block);
    }
    return NULL;
}

static void *free_blocks(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    while (!atomic_load_explicit(&shared.stop, memory_order_relaxed)) {
        put(random_below(&random, SLOT_COUNT), NULL);
    }
    return NULL;
}

static void make_in_short_threads(size_t round)
{
    pthread_t makers[MAKER_COUNT];
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        void *seed = (void *)(round * MAKER_COUNT + i + 100);
        REQUIRE(pthread_create(&makers[i], NULL, make_blocks, seed) == 0);
    }
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        (void)pthread_join(makers[i], NULL);
    }
}

int main(void)
{
    pthread_t freers[FREER_COUNT];
    (void)alarm(100);
    for (size_t i = 0; i < FREER_COUNT; i++) {
        REQUIRE(pthread_create(&freers[i], NULL, free_blocks, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        make_in_short_threads(i);
    }
    atomic_store_explicit(&shared.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < FREER_COUNT; i++) {
        (void)pthread_join(freers[i], NULL);
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        put(i, NULL);
    }
    EXPECT_AT_MOST(mallinfo2().uordblks, LEFT_BYTES);
    return check_result();
}
