// The soak: threads of a mixed program, forks, trims, routes and limits that change, for as long as is asked.
// What is resident at rest stays level: the last quarter is at most 2 % above the first, after a warm-up.
// SPDX-License-Identifier: MIT
//
// Argument: seconds.  An hour: soak 3600.
//
// The work is that of the fault sweep, in rounds; between them the program holds a fixed set of blocks, and
// the free pages are given back before RSS is read, so that what is compared is what is held.
#include "piece_lot.h"
#include "process_memory.h"
#include "test_check.h"
#include "use_everything.h"

#include "hakmem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HELD_COUNT = 60000,
    HELD_BYTES_MOST = 2000,
    ROUNDS_A_SAMPLE = 10,
    SAMPLES_MOST = 100000,
    WARM_PERCENT = 20,
    DRIFT_PERCENT = 2,
    REPLACED_COUNT = 6000,  // of the held ones, each round
    CHURN_THREAD_COUNT = 2,
    CHURN_SLOT_COUNT = 400,
};

// The churning threads touch is_over only; all else is the main thread's.
static struct {
    void *blocks[HELD_COUNT];
    struct random_stream random;
    size_t samples[SAMPLES_MOST];
    size_t sample_count;
    _Atomic bool is_over;
} soak = {.random = {.state = 77}};

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// A fresh block in the place of one that is held.  While a limit is on it may be refused.
static void replace(size_t slot)
{
    size_t bytes = 1 + random_below(&soak.random, HELD_BYTES_MOST);
    hak_free(soak.blocks[slot]);
    soak.blocks[slot] = hak_malloc(bytes);
    REQUIRE(soak.blocks[slot] != NULL);
    memset(soak.blocks[slot], 1, bytes);
}

// Beside the rounds, through their forks and changes.  A limit may refuse it a block.
static void *churn(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    unsigned char *slots[CHURN_SLOT_COUNT] = {NULL};
    while (!atomic_load_explicit(&soak.is_over, memory_order_relaxed)) {
        size_t slot = random_below(&random, CHURN_SLOT_COUNT);
        size_t bytes = 1 + random_below(&random, random_below(&random, 100) == 0 ? 400000 : 3000);
        hak_free(slots[slot]);
        slots[slot] = hak_malloc(bytes);
        if (slots[slot] != NULL) {
            slots[slot][0] = 1;
            slots[slot][bytes - 1] = 1;
        }
        sleep_ms(slot == 0);
    }
    for (size_t i = 0; i < CHURN_SLOT_COUNT; i++) {
        hak_free(slots[i]);
    }
    return NULL;
}

static void do_round(size_t round)
{
    use_everything(round);
    for (size_t i = 0; i < REPLACED_COUNT; i++) {
        replace(random_below(&soak.random, HELD_COUNT));
    }
}

// RSS while nothing churns.
static void take_sample(void)
{
    struct end_figures end = use_everything_read_end();
    if (soak.sample_count < SAMPLES_MOST) {
        soak.samples[soak.sample_count++] = end.rss_bytes;
    }
    EXPECT(end.live_blocks == HELD_COUNT);
}

static void run_sample(size_t first_round)
{
    pthread_t threads[CHURN_THREAD_COUNT];
    atomic_store_explicit(&soak.is_over, false, memory_order_relaxed);
    for (size_t i = 0; i < CHURN_THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(first_round + i)) == 0);
    }
    for (size_t round = first_round; round < first_round + ROUNDS_A_SAMPLE; round++) {
        do_round(round);
    }
    atomic_store_explicit(&soak.is_over, true, memory_order_relaxed);
    for (size_t i = 0; i < CHURN_THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    take_sample();
}

static size_t mean(size_t first, size_t end)
{
    size_t sum = 0;
    for (size_t i = first; i < end; i++) {
        sum += soak.samples[i];
    }
    return sum / (end - first);
}

static void compare_quarters(size_t round_count)
{
    size_t warm = soak.sample_count * WARM_PERCENT / 100;
    size_t quarter = (soak.sample_count - warm) / 4;
    REQUIRE(quarter > 0);
    size_t first_bytes = mean(warm, warm + quarter);
    size_t last_bytes = mean(soak.sample_count - quarter, soak.sample_count);
    (void)printf("%zu rounds; RSS in the first quarter %zu KiB, in the last %zu KiB: %+.2f %%\n",
                 round_count, first_bytes >> 10, last_bytes >> 10,
                 100.0 * ((double)last_bytes / (double)first_bytes - 1));
    EXPECT_AT_MOST(last_bytes, first_bytes + first_bytes / 100 * DRIFT_PERCENT);
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    uint64_t end_ms = now_ms() + strtoull(argv[1], NULL, 10) * 1000;
    size_t round_count = 0;
    lot_may_fail(true);  // a limit of this program may meet the work of its threads
    for (size_t i = 0; i < HELD_COUNT; i++) {
        replace(i);
    }
    for (; now_ms() < end_ms; round_count += ROUNDS_A_SAMPLE) {
        run_sample(round_count);
    }
    compare_quarters(round_count);
    return check_result();
}
