// A thread gets the address, and with it the pthread_t, of one that ended and left blocks behind.  It
// frees half of them while another thread frees the rest; nothing is lost or damaged.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "process_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 60,
    WARM_ROUNDS = 10,
    BLOCK_COUNT = 20000,
    SIZE_COUNT = 6,
    GROWTH_BYTES = 16 << 20,  // two rounds; a leak would be fifty
};

static struct {
    unsigned char *blocks[BLOCK_COUNT];
    pthread_barrier_t start;
    size_t same_count;  // rounds in which the identity was reused
} stage;

static size_t size_of(size_t index)
{
    static const size_t sizes[SIZE_COUNT] = {16, 48, 100, 250, 700, 1500};
    return sizes[index % SIZE_COUNT];
}

static void *leave_blocks(void *unused)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        stage.blocks[i] = malloc(hidden(size_of(i)));
        REQUIRE(stage.blocks[i] != NULL);
        memset(stage.blocks[i], (int)i, size_of(i));
    }
    return unused;
}

static void free_every_second(size_t first)
{
    (void)pthread_barrier_wait(&stage.start);
    for (size_t i = first; i < BLOCK_COUNT; i += 2) {
        REQUIRE(stage.blocks[i][0] == (unsigned char)i);
        REQUIRE(memcmp(stage.blocks[i], stage.blocks[i] + 1, size_of(i) - 1) == 0);
        free(stage.blocks[i]);
    }
}

static void *free_even(void *unused)
{
    free_every_second(0);
    return unused;
}

static void *free_odd(void *unused)
{
    free_every_second(1);
    return unused;
}

static void reuse_an_identity(void)
{
    pthread_t first;
    pthread_t same;
    pthread_t other;
    REQUIRE(pthread_create(&first, NULL, leave_blocks, NULL) == 0);
    (void)pthread_join(first, NULL);
    REQUIRE(pthread_create(&same, NULL, free_even, NULL) == 0);
    stage.same_count += pthread_equal(first, same) != 0;
    REQUIRE(pthread_create(&other, NULL, free_odd, NULL) == 0);
    (void)pthread_join(same, NULL);
    (void)pthread_join(other, NULL);
}

int main(void)
{
    size_t warm_bytes = 0;
    (void)alarm(60);
    REQUIRE(pthread_barrier_init(&stage.start, NULL, 2) == 0);
    for (int i = 0; i < ROUND_COUNT; i++) {
        reuse_an_identity();
        warm_bytes = i == WARM_ROUNDS ? process_rss_bytes() : warm_bytes;
    }
    EXPECT_AT_MOST(process_rss_bytes(), warm_bytes + GROWTH_BYTES);
    EXPECT(stage.same_count > 0);
    return check_result();
}
