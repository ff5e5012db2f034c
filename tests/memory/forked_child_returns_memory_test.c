// A daemon: the process that forked is gone, its threads with it.  What the child frees, also of what
// it inherited, goes back to the system.
// SPDX-License-Identifier: MIT
//
// Argument "trim": malloc_trim is called at the end, which makes it a test that glibc can pass.
#include "process_memory.h"
#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 150000,
    BLOCK_BYTES = 500,
    SLACK_BYTES = 24 << 20,
    WAIT_MS = 2000,
    CHILD_SECONDS = 20,
};

static struct {
    pthread_barrier_t has_blocks;
    bool trims;
    void *inherited[BLOCK_COUNT];
    void *own[BLOCK_COUNT];
} stage;

static void take_all(void **blocks)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
}

static void *take_and_stay(void *unused)
{
    take_all(stage.inherited);
    (void)pthread_barrier_wait(&stage.has_blocks);
    for (;;) {
        (void)pause();
    }
    return unused;
}

static void free_all_in_child(void)
{
    take_all(stage.own);
    size_t peak_bytes = process_rss_bytes();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(stage.own[i]);
        free(stage.inherited[i]);
    }
    if (stage.trims) {
        (void)malloc_trim(0);
    }
    size_t limit_bytes = SLACK_BYTES;
    EXPECT(peak_bytes >= 2 * limit_bytes);
    EXPECT_AT_MOST(process_await_rss(limit_bytes, WAIT_MS), limit_bytes);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)alarm(40);
    stage.trims = argc == 2 && strcmp(argv[1], "trim") == 0;
    REQUIRE(pthread_barrier_init(&stage.has_blocks, NULL, 2) == 0);
    REQUIRE(pthread_create(&thread, NULL, take_and_stay, NULL) == 0);
    (void)pthread_barrier_wait(&stage.has_blocks);
    check_in_child("the child", free_all_in_child, CHILD_SECONDS);
    return check_result();
}
