// At the limit free blocks whose pages are still there can all be had, also when the slabs around them
// have pages that were given back.  Run with the slabs of threads and with those of the shared pool.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 65536,
    BLOCK_BYTES = 64,
    PLACE_BYTES = 65536,  // of each the first KEPT_BYTES keep every second block
    KEPT_BYTES = 8192,
    BELOW_BYTES = 4096,
};

static struct {
    void *blocks[BLOCK_COUNT];
    size_t *taken[BLOCK_COUNT];
    size_t free_count;  // free blocks between those that are kept
} work;

static struct {
    size_t (*limit_set)(size_t limit_bytes);
    size_t (*trim)(size_t keep_bytes);
    int (*stats_read)(struct hak_stats *stats);
} hak;

static void keep_few(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        work.blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(work.blocks[i] != NULL);
        memset(work.blocks[i], 1, BLOCK_BYTES);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        size_t place = (uintptr_t)work.blocks[i] % PLACE_BYTES;
        bool is_between = place < KEPT_BYTES && place / BLOCK_BYTES % 2 != 0;
        if (place >= KEPT_BYTES || is_between) {
            work.free_count += is_between;
            free(work.blocks[i]);
        }
    }
    (void)hak.trim(0);
}

// Writes into each block, so that one handed out twice is found.
static size_t take_until_null(void)
{
    size_t count = 0;
    while (count < BLOCK_COUNT && (work.taken[count] = malloc(hidden(BLOCK_BYTES))) != NULL) {
        *work.taken[count] = count;
        count++;
    }
    return count;
}

static void give_all(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(*work.taken[i] == i);
    }
    for (size_t i = 0; i < count; i++) {
        free(work.taken[i]);
    }
}

static void the_free_blocks_can_be_had(size_t below_bytes)
{
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    REQUIRE(hak.stats_read(&stats) == 0);
    (void)hak.limit_set(stats.committed_bytes - below_bytes);
    size_t count = take_until_null();
    EXPECT(count >= work.free_count / 10 * 9);
    (void)hak.limit_set(0);
    give_all(count);
    (void)hak.trim(0);
}

int main(void)
{
    (void)alarm(90);
    *(void **)&hak.limit_set = check_symbol("hak_limit_set");
    *(void **)&hak.trim = check_symbol("hak_trim");
    *(void **)&hak.stats_read = check_symbol("hak_stats_read");
    REQUIRE(hak.limit_set && hak.trim && hak.stats_read);
    keep_few();
    REQUIRE(work.free_count > 1000);
    the_free_blocks_can_be_had(0);
    the_free_blocks_can_be_had(BELOW_BYTES);
    return check_result();
}
