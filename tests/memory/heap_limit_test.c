// The heap limit: over it malloc returns NULL with ENOMEM after trying to purge and asking the
// callback, and the program goes on.  Run with HAKMEM_LIMIT=64MiB.
// SPDX-License-Identifier: MIT
#include "block_chain.h"
#include "test_check.h"

#include "hakmem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 64 << 20,
    MEDIUM_BYTES = 30000,
    BALLAST_BYTES = 40 << 20,
    THREAD_COUNT = 8,
    MOST_VAIN_CALLS = 100,
    BUSY_SLACK_BYTES = 1 << 20,  // figures are close, not exact, while threads work
};

// The functions of the preloaded library.
static struct {
    size_t (*limit_set)(size_t limit_bytes);
    size_t (*limit_get)(void);
    void (*limit_set_callback)(hak_limit_callback *callback, void *context);
    int (*stats_read)(struct hak_stats *stats);
} hak;

static struct {
    size_t call_count;
    void *ballast;
} callback_state;

static size_t committed_bytes(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    EXPECT(hak.stats_read(&stats) == 0);
    return stats.committed_bytes;
}

static void blocks_of_a_size_fill_the_limit(size_t bytes)
{
    for (int i = 0; i < 3; i++) {
        struct block_chain *chain = NULL;
        size_t count = chain_take_until_null(&chain, bytes);
        EXPECT_AT_MOST(count * bytes, LIMIT_BYTES);
        EXPECT(count * bytes >= LIMIT_BYTES / 4 * 3);
        EXPECT_AT_MOST(committed_bytes(), LIMIT_BYTES);
        chain_give_all(&chain);
    }
}

static void a_block_above_the_limit_is_refused(void)
{
    char *block = malloc(hidden(1000));
    REQUIRE(block != NULL);
    memset(block, 9, 1000);
    errno = 0;
    EXPECT(malloc(hidden(2 * LIMIT_BYTES)) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(calloc(2, hidden(LIMIT_BYTES)) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(realloc(hidden_ptr(block), hidden(2 * LIMIT_BYTES)) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(aligned_alloc(1 << 20, hidden(2 * LIMIT_BYTES)) == NULL && errno == ENOMEM);
    EXPECT(block[0] == 9 && block[999] == 9);
    free(block);
}

static void freed_memory_makes_room_for_other_sizes(void)
{
    struct block_chain *chain = NULL;
    for (size_t bytes = 16; bytes <= MEDIUM_BYTES; bytes *= 5) {
        (void)chain_take_until_null(&chain, bytes);
        chain_give_all(&chain);
    }
    void *large = malloc(hidden(LIMIT_BYTES / 10 * 8));
    EXPECT(large != NULL);
    free(large);
}

static bool drop_ballast(size_t wanted_bytes, void *context)
{
    EXPECT(wanted_bytes > 0);
    EXPECT(context == &callback_state);
    callback_state.call_count++;
    if (callback_state.ballast == NULL) {
        return false;
    }
    free(callback_state.ballast);
    callback_state.ballast = NULL;
    free(malloc(hidden(100)));  // it may call anything
    return true;
}

static bool promise_in_vain(size_t wanted_bytes, void *context)
{
    (void)wanted_bytes;
    (void)context;
    callback_state.call_count++;
    return true;
}

static void the_callback_can_make_room(void)
{
    callback_state.call_count = 0;
    callback_state.ballast = malloc(hidden(BALLAST_BYTES));
    REQUIRE(callback_state.ballast != NULL);
    hak.limit_set_callback(drop_ballast, &callback_state);
    void *block = malloc(hidden(BALLAST_BYTES));
    EXPECT(block != NULL && callback_state.call_count == 1);
    errno = 0;
    EXPECT(malloc(hidden(BALLAST_BYTES)) == NULL && errno == ENOMEM);
    EXPECT(callback_state.call_count == 2);
    free(block);
    hak.limit_set_callback(NULL, NULL);
}

static void a_callback_that_frees_nothing_does_not_loop(void)
{
    callback_state.call_count = 0;
    hak.limit_set_callback(promise_in_vain, NULL);
    errno = 0;
    EXPECT(malloc(hidden(2 * LIMIT_BYTES)) == NULL && errno == ENOMEM);
    EXPECT(callback_state.call_count >= 1);
    EXPECT_AT_MOST(callback_state.call_count, MOST_VAIN_CALLS);
    hak.limit_set_callback(NULL, NULL);
}

static void *fill_from_a_thread(void *unused)
{
    struct block_chain *chain = NULL;
    for (int i = 0; i < 20; i++) {
        (void)chain_take_until_null(&chain, MEDIUM_BYTES);
        EXPECT_AT_MOST(committed_bytes(), LIMIT_BYTES + BUSY_SLACK_BYTES);
        chain_give_all(&chain);
    }
    return unused;
}

static void threads_share_the_limit(void)
{
    pthread_t threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, fill_from_a_thread, NULL) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void the_limit_can_be_changed(void)
{
    EXPECT(hak.limit_set(0) == LIMIT_BYTES);
    EXPECT(hak.limit_get() == 0);
    void *block = malloc(hidden(2 * LIMIT_BYTES));
    EXPECT(block != NULL);
    free(block);
    EXPECT(hak.limit_set(LIMIT_BYTES / 4) == 0);
    EXPECT(malloc(hidden(LIMIT_BYTES / 2)) == NULL);
    EXPECT(hak.limit_set(LIMIT_BYTES) == LIMIT_BYTES / 4);
}

int main(void)
{
    (void)alarm(60);
    *(void **)&hak.limit_set = check_symbol("hak_limit_set");
    *(void **)&hak.limit_get = check_symbol("hak_limit_get");
    *(void **)&hak.limit_set_callback = check_symbol("hak_limit_set_callback");
    *(void **)&hak.stats_read = check_symbol("hak_stats_read");
    REQUIRE(hak.limit_set && hak.limit_get && hak.limit_set_callback && hak.stats_read);
    EXPECT(hak.limit_get() == LIMIT_BYTES);
    blocks_of_a_size_fill_the_limit(16);
    blocks_of_a_size_fill_the_limit(1000);
    blocks_of_a_size_fill_the_limit(MEDIUM_BYTES);
    blocks_of_a_size_fill_the_limit(1 << 20);
    a_block_above_the_limit_is_refused();
    freed_memory_makes_room_for_other_sizes();
    the_callback_can_make_room();
    a_callback_that_frees_nothing_does_not_loop();
    threads_share_the_limit();
    the_limit_can_be_changed();
    return check_result();
}
