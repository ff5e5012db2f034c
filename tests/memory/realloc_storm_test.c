// Many threads grow buffers from 4 KB to 1 MB, over and over: in the steady state that takes fewer than
// one system call in ten reallocs.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 16,
    ROUND_COUNT = 300,
    FIRST_BYTES = 4 << 10,
    LAST_BYTES = 1 << 20,
    GROWTH = 4,
    REALLOCS_A_ROUND = 5,
    REALLOCS_A_CALL = 10,
};

static int (*stats_read)(struct hak_stats *stats);

static size_t system_call_count(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    EXPECT(stats_read(&stats) == 0);
    return stats.os_call_count;
}

static void *grow_buffers(void *unused)
{
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        char *buffer = NULL;
        for (size_t bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= GROWTH) {
            buffer = realloc(buffer, hidden(bytes));
            REQUIRE(buffer != NULL);
            buffer[bytes - 1] = 1;
        }
        free(buffer);
    }
    return unused;
}

static void grow_in_threads(void)
{
    pthread_t threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, grow_buffers, NULL) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    (void)alarm(60);
    *(void **)&stats_read = check_symbol("hak_stats_read");
    REQUIRE(stats_read != NULL);
    grow_in_threads();
    size_t before_count = system_call_count();
    grow_in_threads();
    size_t call_count = system_call_count() - before_count;
    size_t realloc_count = (size_t)THREAD_COUNT * ROUND_COUNT * REALLOCS_A_ROUND;
    (void)printf("%zu system calls in %zu reallocs\n", call_count, realloc_count);
    EXPECT_AT_MOST(call_count, realloc_count / REALLOCS_A_CALL);
    return check_result();
}
