// A small program has a small address space.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MOST_VSZ_BYTES = 32 << 20,
    THREAD_COUNT = 16,
    STACK_BYTES = 256 << 10,
    MOST_THREADS_VSZ_BYTES = 64 << 20,
};

static pthread_barrier_t barrier;

static void *allocate_once(void *unused)
{
    void *block = malloc(hidden(100));
    (void)pthread_barrier_wait(&barrier);  // all hold a block
    (void)pthread_barrier_wait(&barrier);  // the main thread has looked
    free(block);
    return unused;
}

static void threads_do_not_reserve_much(void)
{
    pthread_t threads[THREAD_COUNT];
    pthread_attr_t attributes;
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREAD_COUNT + 1) == 0);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], &attributes, allocate_once, NULL) == 0);
    }
    (void)pthread_barrier_wait(&barrier);
    EXPECT_AT_MOST(process_vsz_bytes(), MOST_THREADS_VSZ_BYTES);
    (void)pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    (void)alarm(20);
    void *block = malloc(hidden(100));
    EXPECT(block != NULL);
    EXPECT_AT_MOST(process_vsz_bytes(), MOST_VSZ_BYTES);
    free(block);
    threads_do_not_reserve_much();
    return check_result();
}
