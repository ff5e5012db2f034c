// A static program, with threads and a fork: every block comes from the archive that was linked.
// Compiled with HAK_IS_LINKED 0 or 1.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 8,
    BLOCK_COUNT = 3000
};

static bool is_ours(const void *block)
{
    return block != NULL && (!HAK_IS_LINKED || hak_owns(block));
}

static void every_function_gives_our_blocks(void)
{
    void *blocks[14];
    char *text = NULL;
    size_t count = 0;
    blocks[count++] = malloc(hidden(10));
    blocks[count++] = calloc(hidden(10), 10);
    blocks[count++] = realloc(malloc(hidden(10)), hidden(10000));
    blocks[count++] = reallocarray(NULL, hidden(10), 100);
    blocks[count++] = aligned_alloc(64, hidden(10));
    blocks[count++] = memalign(128, hidden(10));
    blocks[count++] = valloc(hidden(10));
    blocks[count++] = pvalloc(hidden(10));
    blocks[count++] = strdup("text");
    blocks[count++] = malloc(hidden(3 << 20));
    EXPECT(posix_memalign(&blocks[count++], 256, hidden(10)) == 0);
    EXPECT(asprintf(&text, "%d", 5) == 1);
    blocks[count++] = text;
    blocks[count++] = getcwd(NULL, 0);
    blocks[count++] = realpath("/", NULL);
    for (size_t i = 0; i < count; i++) {
        EXPECT(is_ours(blocks[i]));
        EXPECT(malloc_usable_size(blocks[i]) > 0);
        free(blocks[i]);
    }
    EXPECT(mallinfo2().arena + mallinfo2().hblkhd > 0);
    (void)malloc_trim(0);
}

static void *work(void *unused)
{
    void *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(i));
        REQUIRE(is_ours(blocks[i]));
        memset(blocks[i], 1, i);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    return unused;
}

static void be_the_child(void)
{
    pthread_t thread;
    (void)work(NULL);
    REQUIRE(pthread_create(&thread, NULL, work, NULL) == 0);
    (void)pthread_join(thread, NULL);
}

int main(void)
{
    pthread_t threads[THREAD_COUNT];
    (void)alarm(30);
    every_function_gives_our_blocks();
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
    }
    for (size_t i = 0; i < 5; i++) {
        check_in_child("a child of a static program", be_the_child, 10);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)puts("done");
    return check_result();
}
