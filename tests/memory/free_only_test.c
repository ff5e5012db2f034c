// One thread only allocates and another only frees what it gets: memory stays near what is live.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RING_COUNT = 4096,
    MEAN_BYTES = 1000,
    LIVE_BYTES = RING_COUNT * MEAN_BYTES,
    MOST_GROWTH_BYTES = 4 * LIVE_BYTES + (16 << 20),
    CHECK_EVERY = 100000,
};

static const size_t total_count = 3000000;

// One writer, one reader; each count pairs release with the other side's acquire.
static struct {
    _Atomic size_t sent_count;
    _Atomic size_t freed_count;
    void *blocks[RING_COUNT];
} ring;

static void *only_free(void *unused)
{
    for (size_t i = 0; i < total_count; i++) {
        while (atomic_load_explicit(&ring.sent_count, memory_order_acquire) == i) {
            (void)sched_yield();
        }
        free(ring.blocks[i % RING_COUNT]);
        atomic_store_explicit(&ring.freed_count, i + 1, memory_order_release);
    }
    return unused;
}

static void send_a_block(size_t index, struct random_stream *random)
{
    size_t bytes = 16 + random_below(random, 2 * (MEAN_BYTES - 16));
    void *block = malloc(bytes);
    REQUIRE(block != NULL);
    memset(block, 1, bytes);
    while (index - atomic_load_explicit(&ring.freed_count, memory_order_acquire) == RING_COUNT) {
        (void)sched_yield();
    }
    ring.blocks[index % RING_COUNT] = block;
    atomic_store_explicit(&ring.sent_count, index + 1, memory_order_release);
}

int main(void)
{
    pthread_t freer;
    struct random_stream random = {.state = 5};
    (void)alarm(100);
    free(malloc(hidden(100)));
    size_t rss_before = process_rss_bytes();
    REQUIRE(pthread_create(&freer, NULL, only_free, NULL) == 0);
    for (size_t i = 0; i < total_count; i++) {
        send_a_block(i, &random);
        if (i % CHECK_EVERY == 0) {
            EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES);
        }
    }
    (void)pthread_join(freer, NULL);
    EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES);
    return check_result();
}
