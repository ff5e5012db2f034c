// Twenty thousand short threads, one after another and then 64 at a time, leave nothing behind.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 20000,
    WARM_COUNT = 500,
    GROUP_COUNT = 64,
    SMALL_BYTES = 100,
    LARGE_BYTES = 300 << 10,
    MOST_GROWTH_BYTES = 8 << 20,
    MOST_MAP_GROWTH = 100,
};

static void *allocate_and_free(void *unused)
{
    char *small = malloc(hidden(SMALL_BYTES));
    char *large = malloc(hidden(LARGE_BYTES));
    REQUIRE(small != NULL && large != NULL);
    small[0] = 1;
    large[LARGE_BYTES - 1] = 1;
    free(small);
    free(large);
    return unused;
}

static void run_one_after_another(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, allocate_and_free, NULL) == 0);
        (void)pthread_join(thread, NULL);
    }
}

static void run_in_groups(size_t count)
{
    pthread_t threads[GROUP_COUNT];
    for (size_t done = 0; done < count; done += GROUP_COUNT) {
        for (size_t i = 0; i < GROUP_COUNT; i++) {
            REQUIRE(pthread_create(&threads[i], NULL, allocate_and_free, NULL) == 0);
        }
        for (size_t i = 0; i < GROUP_COUNT; i++) {
            (void)pthread_join(threads[i], NULL);
        }
    }
}

static void leaves_nothing_behind(void (*run)(size_t count), const char *name)
{
    run(WARM_COUNT);
    size_t rss_before = process_rss_bytes();
    size_t maps_before = process_map_count();
    run(THREAD_COUNT);
    (void)check_at_most(process_rss_bytes(), rss_before + MOST_GROWTH_BYTES, name, 0, "the RSS");
    (void)check_at_most(process_map_count(), maps_before + MOST_MAP_GROWTH, name, 0,
                        "the mappings");
}

int main(void)
{
    (void)alarm(100);
    leaves_nothing_behind(run_one_after_another, "one after another");
    leaves_nothing_behind(run_in_groups, "64 at a time");
    return check_result();
}
