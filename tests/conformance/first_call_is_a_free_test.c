// In a forked child a new thread's first call is a free of a block whose thread the fork left behind.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 48,
    BLOCK_COUNT = 64,
    FREED_MOST = 40,
    FREED_STEP = 2,
    TAKEN_COUNT = 200,
    CHILD_SECONDS = 10,
};

static struct {
    pthread_barrier_t has_blocks;
    size_t freed_count;  // how many of its blocks the thread frees before the fork
    void *last_block;
} stage;

// Stays until the process ends: the fork leaves it behind.
static void *own_blocks(void *unused)
{
    void *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
    }
    for (size_t i = 0; i < stage.freed_count; i++) {
        free(blocks[i]);
    }
    stage.last_block = blocks[BLOCK_COUNT - 1];
    (void)pthread_barrier_wait(&stage.has_blocks);
    for (;;) {
        (void)pause();
    }
    return unused;
}

static void *free_first(void *unused)
{
    static char *blocks[TAKEN_COUNT];
    free(stage.last_block);
    for (size_t i = 0; i < TAKEN_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], (int)i, BLOCK_BYTES);
    }
    for (size_t i = 0; i < TAKEN_COUNT; i++) {
        EXPECT(blocks[i][0] == (char)i && blocks[i][BLOCK_BYTES - 1] == (char)i);
        free(blocks[i]);
    }
    return unused;
}

static void free_in_a_new_thread(void)
{
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, free_first, NULL) == 0);
    (void)pthread_join(thread, NULL);
}

int main(void)
{
    (void)alarm(60);
    REQUIRE(pthread_barrier_init(&stage.has_blocks, NULL, 2) == 0);
    for (stage.freed_count = 0; stage.freed_count < FREED_MOST; stage.freed_count += FREED_STEP) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, own_blocks, NULL) == 0);
        (void)pthread_barrier_wait(&stage.has_blocks);
        check_in_child("a child that frees first", free_in_a_new_thread, CHILD_SECONDS);
    }
    return check_result();
}
