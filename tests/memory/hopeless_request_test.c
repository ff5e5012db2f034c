// A request that can't be met is refused without a trace: the highest figure stays what was really
// used, and another thread gets its memory in the meantime.  On hakmem run with HAKMEM_LIMIT=64MiB.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 64 << 20,
    HELD_BYTES = 8 << 20,
    BESIDE_BYTES = 60 << 20,  // below the limit, but too much beside what is held
    BLOCK_BYTES = 2 << 20,
    ASKER_COUNT = 2,
    REFUSED_COUNT = 200000,
    PEAK_BYTES = 32 << 20,
};

static struct {
    _Atomic bool stop;
    _Atomic size_t refused_count;  // relaxed, as it orders nothing
    size_t asked_bytes;
} stage;

static void *ask_for_too_much(void *unused)
{
    while (!atomic_load_explicit(&stage.stop, memory_order_relaxed)) {
        errno = 0;
        void *block = malloc(hidden(stage.asked_bytes));
        EXPECT(!check_has_hakmem() || (block == NULL && errno == ENOMEM));
        free(block);
        atomic_fetch_add_explicit(&stage.refused_count, 1, memory_order_relaxed);
    }
    return unused;
}

static void others_get_their_memory_beside(size_t asked_bytes)
{
    pthread_t askers[ASKER_COUNT];
    stage.asked_bytes = asked_bytes;
    atomic_store_explicit(&stage.stop, false, memory_order_relaxed);
    atomic_store_explicit(&stage.refused_count, 0, memory_order_relaxed);
    for (size_t i = 0; i < ASKER_COUNT; i++) {
        REQUIRE(pthread_create(&askers[i], NULL, ask_for_too_much, NULL) == 0);
    }
    while (atomic_load_explicit(&stage.refused_count, memory_order_relaxed) < REFUSED_COUNT) {
        void *block = malloc(hidden(BLOCK_BYTES));
        EXPECT(block != NULL);
        free(block);
    }
    atomic_store_explicit(&stage.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < ASKER_COUNT; i++) {
        (void)pthread_join(askers[i], NULL);
    }
}

static void the_peak_is_what_was_used(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    int (*stats_read)(struct hak_stats * stats) = NULL;
    size_t (*limit_set)(size_t limit_bytes) = NULL;
    *(void **)&stats_read = check_symbol("hak_stats_read");
    *(void **)&limit_set = check_symbol("hak_limit_set");
    REQUIRE(stats_read != NULL && limit_set != NULL);
    EXPECT(limit_set(0) == LIMIT_BYTES);
    errno = 0;
    EXPECT(malloc(hidden(PTRDIFF_MAX)) == NULL && errno == ENOMEM);
    EXPECT(malloc(hidden(PTRDIFF_MAX / 2)) == NULL && errno == ENOMEM);
    EXPECT(stats_read(&stats) == 0);
    EXPECT_AT_MOST(stats.peak_committed_bytes, PEAK_BYTES);
}

int main(void)
{
    (void)alarm(100);
    void *held = malloc(hidden(HELD_BYTES));
    REQUIRE(held != NULL);
    others_get_their_memory_beside(BESIDE_BYTES);
    others_get_their_memory_beside(PTRDIFF_MAX);
    if (check_has_hakmem()) {
        the_peak_is_what_was_used();
    }
    free(held);
    return check_result();
}
