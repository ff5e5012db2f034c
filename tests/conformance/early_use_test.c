// The first malloc of the process comes before any constructor, out of libc's own lock: atexit needs memory for
// its list.  What was allocated then is sound later, and every function that was registered runs.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HANDLER_COUNT = 1000,
    BLOCK_COUNT = 300,
};

static struct {
    size_t handler_count;
    unsigned char *blocks[BLOCK_COUNT];
} early;

static void count_handler(void)
{
    free(malloc(hidden(early.handler_count)));
    early.handler_count++;
}

// Registered first, so that it runs last.
static void count_handlers(void)
{
    EXPECT(early.handler_count == HANDLER_COUNT);
    _exit(check_result());
}

static void be_early(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    REQUIRE(atexit(count_handlers) == 0);
    for (size_t i = 0; i < HANDLER_COUNT; i++) {
        REQUIRE(atexit(count_handler) == 0);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        early.blocks[i] = malloc(hidden(i * 100));
        REQUIRE(early.blocks[i] != NULL);
        memset(early.blocks[i], (int)i, i * 100);
    }
}

// Runs before the constructors of all libraries.
__attribute__((section(".preinit_array"),
               used)) static void (*const first_function)(int, char **, char **) = be_early;

static void *free_early_blocks(void *unused)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        EXPECT(i == 0 || memcmp(early.blocks[i], early.blocks[i] + 1, i * 100 - 1) == 0);
        free(early.blocks[i]);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    (void)alarm(20);
    REQUIRE(pthread_create(&thread, NULL, free_early_blocks, NULL) == 0);
    (void)pthread_join(thread, NULL);
    return check_result();
}
