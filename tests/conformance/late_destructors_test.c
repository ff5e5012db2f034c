// Key destructors that allocate and free while their thread ends, again and again, leak no heap.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 20000,
    WARM_COUNT = 500,
    KEY_COUNT = 3,
    HELD_COUNT = 20,
    MOST_GROWTH_BYTES = 8 << 20,
};

static pthread_key_t keys[KEY_COUNT];

// What a thread holds until its last destructor has run.
struct holding {
    size_t destructor_count;
    void *held[HELD_COUNT];
};

static void allocate_again(struct holding *holding)
{
    for (size_t i = 0; i < HELD_COUNT; i++) {
        free(holding->held[i]);
        holding->held[i] = malloc(hidden(16 + i * 40 + holding->destructor_count));
        REQUIRE(holding->held[i] != NULL);
        memset(holding->held[i], 1, 16);
    }
    free(malloc(hidden(300 << 10)));
}

// Each of the keys sets itself again as often as it is allowed to; the first one frees it all.
static void run_late(void *argument, pthread_key_t key)
{
    struct holding *holding = argument;
    holding->destructor_count++;
    allocate_again(holding);
    if (holding->destructor_count + KEY_COUNT <= KEY_COUNT * PTHREAD_DESTRUCTOR_ITERATIONS) {
        (void)pthread_setspecific(key, holding);
    } else if (holding->destructor_count == KEY_COUNT * PTHREAD_DESTRUCTOR_ITERATIONS) {
        for (size_t i = 0; i < HELD_COUNT; i++) {
            free(holding->held[i]);
        }
        free(holding);
    }
}

static void run_late_first(void *argument)
{
    run_late(argument, keys[0]);
}

static void run_late_second(void *argument)
{
    run_late(argument, keys[1]);
}

static void run_late_third(void *argument)
{
    run_late(argument, keys[2]);
}

static void *hold_until_the_end(void *unused)
{
    struct holding *holding = calloc(1, sizeof(*holding));
    REQUIRE(holding != NULL);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        (void)pthread_setspecific(keys[i], holding);
    }
    return unused;
}

static void run_threads(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, hold_until_the_end, NULL) == 0);
        (void)pthread_join(thread, NULL);
    }
}

int main(void)
{
    (void)alarm(100);
    // One key made before the allocator's first use in a thread, the others after it.
    REQUIRE(pthread_key_create(&keys[0], run_late_first) == 0);
    free(malloc(hidden(100)));
    REQUIRE(pthread_key_create(&keys[1], run_late_second) == 0);
    REQUIRE(pthread_key_create(&keys[2], run_late_third) == 0);
    run_threads(WARM_COUNT);
    size_t rss_before = process_rss_bytes();
    run_threads(THREAD_COUNT);
    EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES);
    return check_result();
}
