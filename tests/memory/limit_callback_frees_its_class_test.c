// At the limit the callback frees blocks of the very size that is wanted: all of them can be had
// again, and none is lost.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 8 << 20,
    BLOCK_BYTES = 64,
    WANTED_COUNT = 300000,
    FREED_EACH_CALL = 200,
    FEWEST_HELD = LIMIT_BYTES / BLOCK_BYTES / 10 * 9,
    LIBC_BLOCKS = 10,
};

static struct {
    void *blocks[WANTED_COUNT];
    size_t count;
    size_t freed_count;
} held;

static struct {
    size_t (*limit_set)(size_t limit_bytes);
    void (*limit_set_callback)(hak_limit_callback *callback, void *context);
    void (*thread_flush)(void);
    int (*stats_read)(struct hak_stats *stats);
} hak;

static bool free_some(size_t wanted_bytes, void *unused)
{
    (void)wanted_bytes;
    (void)unused;
    for (size_t i = 0; i < FREED_EACH_CALL && held.count > 0; i++) {
        free(held.blocks[--held.count]);
        held.freed_count++;
    }
    return held.count > 0;
}

static size_t live_block_count(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    hak.thread_flush();
    EXPECT(hak.stats_read(&stats) == 0);
    return stats.live_blocks;
}

int main(void)
{
    (void)alarm(30);
    *(void **)&hak.limit_set = check_symbol("hak_limit_set");
    *(void **)&hak.limit_set_callback = check_symbol("hak_limit_set_callback");
    *(void **)&hak.thread_flush = check_symbol("hak_thread_flush");
    *(void **)&hak.stats_read = check_symbol("hak_stats_read");
    REQUIRE(hak.limit_set && hak.limit_set_callback && hak.thread_flush && hak.stats_read);
    size_t before_count = live_block_count();
    (void)hak.limit_set(LIMIT_BYTES);
    hak.limit_set_callback(free_some, NULL);
    for (size_t i = 0; i < WANTED_COUNT; i++) {
        void *block = malloc(hidden(BLOCK_BYTES));
        REQUIRE(block != NULL);
        held.blocks[held.count++] = block;
    }
    EXPECT(held.freed_count > 0);
    EXPECT(held.count >= FEWEST_HELD);
    EXPECT_AT_MOST(live_block_count(), held.count + before_count + LIBC_BLOCKS);
    return check_result();
}
