// What is kept follows the threads and the work, not the processors: on a host that has 256 of them a
// program holds no more than on one that has one.
// SPDX-License-Identifier: MIT
//
// The program runs itself once for each host, as what it keeps is settled at the start.  Without huge pages
// (HAKMEM_HUGE_PAGES=off) the peak is bounded too: with them each thread's slab of each class is resident as a
// whole.
#include "process_memory.h"
#include "random_stream.h"
#include "run_self.h"
#include "test_check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 64,
    BURST_BYTES = 1 << 20,  // of one thread
    BLOCK_MOST = 4000,
    ROUND_COUNT = 12,
    LIVE_BYTES = THREAD_COUNT * BURST_BYTES,
    MANY = 256,
    SLACK_BYTES = 16 << 20,
    LANE_BYTES = 1 << 20,
    LANE_COUNT = 64,  // there are never more
};

static struct {
    unsigned processor_count;  // 0: those of this machine
    pthread_barrier_t barrier;
    _Atomic unsigned next;
} host;

// libc's is not reached, also from the allocator: the program exports this one.  The thread hops at each call.
__attribute__((visibility("default"))) int sched_getcpu(void)
{
    unsigned next = atomic_fetch_add_explicit(&host.next, 1, memory_order_relaxed);
    return (int)(next % host.processor_count);
}

static void burst(struct random_stream *random, void **blocks)
{
    size_t count = 0;
    for (size_t held_bytes = 0; held_bytes < BURST_BYTES && count < BLOCK_MOST; count++) {
        size_t bytes = 16 + random_below(random, random_below(random, 10) == 0 ? 9000 : 900);
        blocks[count] = malloc(bytes);
        REQUIRE(blocks[count] != NULL);
        memset(blocks[count], 1, bytes);
        held_bytes += bytes;
    }
    (void)pthread_barrier_wait(&host.barrier);  // all bursts are live
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
}

static void *work(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    void *blocks[BLOCK_MOST];
    for (int round = 0; round < ROUND_COUNT; round++) {
        burst(&random, blocks);
    }
    (void)pthread_barrier_wait(&host.barrier);  // idle
    (void)pthread_barrier_wait(&host.barrier);  // measured
    return NULL;
}

// Prints what is resident while all threads are idle.
static void measure(unsigned processor_count)
{
    pthread_t threads[THREAD_COUNT];
    host.processor_count = processor_count;
    REQUIRE(pthread_barrier_init(&host.barrier, NULL, THREAD_COUNT + 1) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    }
    for (int round = 0; round < ROUND_COUNT; round++) {
        (void)pthread_barrier_wait(&host.barrier);
    }
    (void)pthread_barrier_wait(&host.barrier);
    if (getenv("HAKMEM_HUGE_PAGES") != NULL) {
        EXPECT_AT_MOST(process_peak_rss_bytes(), 2 * LIVE_BYTES + SLACK_BYTES);
    }
    size_t idle_bytes = process_rss_bytes();
    (void)pthread_barrier_wait(&host.barrier);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)printf("%zu\n", idle_bytes);
}

int main(int argc, char **argv)
{
    (void)alarm(100);
    if (argc == 2) {
        measure((unsigned)strtoul(argv[1], NULL, 10));
        return check_result();
    }
    host.processor_count = 1;
    size_t one_bytes = run_self_for_number(argv[0], "1", "");
    size_t many_bytes = run_self_for_number(argv[0], "256", "");
    size_t lanes_bytes =
        run_self_for_number(argv[0], "256", "HAKMEM_MID_V3_ENABLED=on HAKMEM_MID_V3_CLASSES=0xff");
    (void)printf("idle: %zu KiB with one processor, %zu with %d, %zu with lanes on %d\n",
                 one_bytes >> 10, many_bytes >> 10, MANY, lanes_bytes >> 10, MANY);
    EXPECT_AT_MOST(many_bytes, one_bytes + SLACK_BYTES);
    EXPECT_AT_MOST(lanes_bytes, one_bytes + LANE_COUNT * LANE_BYTES);
    return check_result();
}
