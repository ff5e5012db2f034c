// Many idle threads with heaps of their own, and forks from several threads at once: all of them end,
// and every child can allocate.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    IDLE_COUNT = 200,
    FORKER_COUNT = 8,
    FORKS_EACH = 25,
    CHILD_SECONDS = 10,
    STACK_BYTES = 128 << 10,  // the least that arm64 allows
};

static struct {
    pthread_barrier_t is_idle;
    pthread_barrier_t is_over;
} stage;

static void *allocate_and_idle(void *unused)
{
    void *block = malloc(hidden(1000));
    REQUIRE(block != NULL);
    (void)pthread_barrier_wait(&stage.is_idle);
    (void)pthread_barrier_wait(&stage.is_over);
    free(block);
    return unused;
}

static void allocate_in_child(void)
{
    for (size_t bytes = 1; bytes < (1 << 20); bytes *= 3) {
        void *block = malloc(hidden(bytes));
        REQUIRE(block != NULL);
        memset(block, 1, bytes);
        free(block);
    }
}

static void *fork_often(void *unused)
{
    for (size_t i = 0; i < FORKS_EACH; i++) {
        check_in_child("a child of a process with many threads", allocate_in_child, CHILD_SECONDS);
    }
    return unused;
}

int main(void)
{
    static pthread_t idlers[IDLE_COUNT];
    pthread_t forkers[FORKER_COUNT];
    pthread_attr_t small_stack;
    (void)alarm(60);
    REQUIRE(pthread_barrier_init(&stage.is_idle, NULL, IDLE_COUNT + 1) == 0);
    REQUIRE(pthread_barrier_init(&stage.is_over, NULL, IDLE_COUNT + 1) == 0);
    REQUIRE(pthread_attr_init(&small_stack) == 0);
    REQUIRE(pthread_attr_setstacksize(&small_stack, STACK_BYTES) == 0);
    for (size_t i = 0; i < IDLE_COUNT; i++) {
        REQUIRE(pthread_create(&idlers[i], &small_stack, allocate_and_idle, NULL) == 0);
    }
    (void)pthread_barrier_wait(&stage.is_idle);
    for (size_t i = 0; i < FORKER_COUNT; i++) {
        REQUIRE(pthread_create(&forkers[i], NULL, fork_often, NULL) == 0);
    }
    for (size_t i = 0; i < FORKER_COUNT; i++) {
        (void)pthread_join(forkers[i], NULL);
    }
    (void)pthread_barrier_wait(&stage.is_over);
    for (size_t i = 0; i < IDLE_COUNT; i++) {
        (void)pthread_join(idlers[i], NULL);
    }
    return check_result();
}
