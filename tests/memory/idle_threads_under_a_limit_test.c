// Idle threads' stocks are a small part of the heap limit: with nothing live, another thread gets at
// least a third of it.  Run with HAKMEM_LIMIT=8MiB.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 8 << 20,
    THREAD_COUNT = 8,
    SLOT_COUNT = 300,
    STEP_COUNT = 100000,
    BIGGEST_BYTES = 4096,
    BLOCK_BYTES = 10000,
    TAKEN_COUNT_MOST = LIMIT_BYTES / BLOCK_BYTES,
};

static pthread_barrier_t are_idle;
static pthread_barrier_t may_end;

static void *churn_and_idle(void *argument)
{
    void *slots[SLOT_COUNT] = {NULL};
    unsigned seed = (unsigned)(size_t)argument;
    for (int step = 0; step < STEP_COUNT; step++) {
        size_t slot = (size_t)rand_r(&seed) % SLOT_COUNT;
        free(slots[slot]);
        slots[slot] = malloc(hidden((size_t)rand_r(&seed) % BIGGEST_BYTES));
    }
    for (size_t slot = 0; slot < SLOT_COUNT; slot++) {
        free(slots[slot]);
    }
    (void)pthread_barrier_wait(&are_idle);
    (void)pthread_barrier_wait(&may_end);
    return NULL;
}

int main(void)
{
    static void *blocks[TAKEN_COUNT_MOST];
    pthread_t threads[THREAD_COUNT];
    (void)alarm(60);
    (void)pthread_barrier_init(&are_idle, NULL, THREAD_COUNT + 1);
    (void)pthread_barrier_init(&may_end, NULL, THREAD_COUNT + 1);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn_and_idle, (void *)(i + 1)) == 0);
    }
    (void)pthread_barrier_wait(&are_idle);
    size_t count = 0;
    while (count < TAKEN_COUNT_MOST && (blocks[count] = malloc(hidden(BLOCK_BYTES))) != NULL) {
        count++;
    }
    EXPECT(count * BLOCK_BYTES >= LIMIT_BYTES / 3);
    while (count-- > 0) {
        free(blocks[count]);
    }
    (void)pthread_barrier_wait(&may_end);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return check_result();
}
