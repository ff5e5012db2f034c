// SPDX-License-Identifier: MIT
#include "thread/heap_stats.h"

#include "unit_hardened.h"
#include "unit_worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 500,
    JSON_BYTES = 32 << 10,
};

static void *blocks[BLOCK_COUNT];

static struct hak_stats read_stats(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats;
}

static size_t bytes_of(size_t index)
{
    return index * index * 2 + 1;
}

static void take_blocks(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(bytes_of(i));
    }
}

static void give_blocks(void *argument)
{
    (void)argument;
    hak_batch_free(blocks, BLOCK_COUNT);
}

static void what_is_live_is_counted_to_the_byte(void **state)
{
    (void)state;
    struct hak_stats before = read_stats();
    size_t expected_bytes = before.live_bytes;
    size_t large_count = 0;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(bytes_of(i));
        expected_bytes += hak_usable_size(blocks[i]);
        large_count += bytes_of(i) > CLASSED_BYTES_MOST;
    }
    struct hak_stats stats = read_stats();
    assert_int_equal(stats.live_bytes, expected_bytes);
    assert_int_equal(stats.live_blocks, before.live_blocks + BLOCK_COUNT);
    assert_int_equal(stats.large_blocks, before.large_blocks + large_count);
    assert_true(large_count > 0);
    give_blocks(NULL);
    stats = read_stats();
    assert_int_equal(stats.live_bytes, before.live_bytes);
    assert_int_equal(stats.live_blocks, before.live_blocks);
}

static void what_another_thread_holds_is_counted_too(void **state)
{
    (void)state;
    struct worker worker;
    struct hak_stats before = read_stats();
    worker_start(&worker);
    worker_run(&worker, take_blocks, NULL);
    struct hak_stats stats = read_stats();
    assert_int_equal(stats.live_blocks, before.live_blocks + BLOCK_COUNT);
    worker_run(&worker, give_blocks, NULL);
    assert_int_equal(read_stats().live_blocks, before.live_blocks);
    worker_end(&worker);
    assert_true(read_stats().parked_count >= 1);
    assert_int_equal(read_stats().live_bytes, before.live_bytes);
}

// Every committed byte is in exactly one of the figures, but for what a slab's end is too short for
// and for the end of a large block's last unit.
static void the_figures_add_up(void **state)
{
    (void)state;
    take_blocks(NULL);
    for (int round = 0; round < 2; round++) {
        struct hak_stats stats = read_stats();
        size_t known_bytes = stats.live_bytes + stats.bin_bytes + stats.transit_bytes +
                             stats.slab_free_bytes + stats.dirty_bytes + stats.record_bytes;
        assert_true(stats.dirty_bytes <= stats.committed_bytes);
        assert_true(stats.committed_bytes <= stats.mapped_bytes);
        assert_true(stats.committed_bytes <= stats.peak_committed_bytes);
        // Purged granules of slabs hold free blocks and aren't committed.
        assert_true(stats.committed_bytes <=
                    known_bytes + stats.slab_count * 65536 / 4 + stats.large_blocks * 65536);
        assert_true(stats.live_bytes + stats.dirty_bytes <= stats.committed_bytes);
        if (round == 0) {
            give_blocks(NULL);
        }
    }
}

static void a_trim_leaves_nothing_dirty(void **state)
{
    (void)state;
    take_blocks(NULL);
    give_blocks(NULL);
    assert_true(hak_trim(0) > 0);
    struct hak_stats stats = read_stats();
    assert_int_equal(stats.dirty_bytes, 0);
    assert_int_equal(stats.bin_bytes, 0);
    assert_int_equal(stats.slab_free_bytes, 0);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.committed_bytes, stats.record_bytes);
}

static void an_older_program_gets_the_fields_that_it_knows(void **state)
{
    (void)state;
    struct hak_stats stats;
    memset(&stats, 0xee, sizeof stats);
    stats.struct_bytes = offsetof(struct hak_stats, large_bytes);
    assert_int_equal(hak_stats_read(&stats), 0);
    assert_int_equal(stats.struct_bytes, offsetof(struct hak_stats, large_bytes));
    assert_true(is_filled_with(&stats.large_bytes, 0xee,
                               sizeof stats - offsetof(struct hak_stats, large_bytes)));
    struct {
        struct hak_stats stats;
        size_t unknown;
    } newer = {.stats = {.struct_bytes = sizeof newer}, .unknown = 5};
    assert_int_equal(hak_stats_read(&newer.stats), 0);
    assert_int_equal(newer.unknown, 0);
    stats.struct_bytes = 0;
    assert_int_not_equal(hak_stats_read(&stats), 0);
}

// The number after "name": in the text; fails when it isn't there.
static size_t member(const char *json, const char *name)
{
    char key[64];
    size_t number = 0;
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(json, key);
    assert_non_null(found);
    assert_int_equal(sscanf(found + strlen(key), "%zu", &number), 1);
    return number;
}

static void assert_members(const char *json, const struct hak_stats *stats)
{
    static const char *const names[] = {
        "live_bytes",    "live_blocks",          "large_bytes",  "large_blocks",    "bin_bytes",
        "transit_bytes", "slab_free_bytes",      "dirty_bytes",  "committed_bytes", "mapped_bytes",
        "record_bytes",  "peak_committed_bytes", "purged_bytes", "limit_bytes",     "heap_count",
        "parked_count",  "slab_count",           "refill_count", "flush_count",     "remote_count",
        "os_call_count",
    };
    size_t count = sizeof names / sizeof names[0];
    assert_int_equal((1 + count) * sizeof(size_t), sizeof *stats);
    const size_t *figures = (const size_t *)(const void *)stats + 1;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(member(json, names[i]), figures[i]);
    }
}

static void the_json_says_the_same(void **state)
{
    (void)state;
    static char json[JSON_BYTES];
    take_blocks(NULL);
    struct hak_stats stats = read_stats();
    size_t length = hak_stats_json(json, sizeof json);
    assert_int_equal(length, strlen(json));
    assert_null(strchr(json, '\n'));
    assert_int_equal(json[0], '{');
    assert_int_equal(json[length - 1], '}');
    assert_int_equal(member(json, "pid"), getpid());
    assert_members(json, &stats);
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += (json[i] == '{' || json[i] == '[') - (json[i] == '}' || json[i] == ']');
        assert_true(depth > 0 || i + 1 == length);
    }
    assert_int_equal(depth, 0);
    give_blocks(NULL);
}

static void json_that_does_not_fit_is_cut_and_measured(void **state)
{
    (void)state;
    char short_json[50];
    memset(short_json, 'x', sizeof short_json);
    size_t length = hak_stats_json(NULL, 0);
    assert_int_equal(hak_stats_json(short_json, 40), length);
    assert_int_equal(strlen(short_json), 39);
    assert_true(is_filled_with(short_json + 40, 'x', 10));
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_live_is_counted_to_the_byte),
        cmocka_unit_test(what_another_thread_holds_is_counted_too),
        cmocka_unit_test(the_figures_add_up),
        cmocka_unit_test(a_trim_leaves_nothing_dirty),
        cmocka_unit_test(an_older_program_gets_the_fields_that_it_knows),
        cmocka_unit_test(the_json_says_the_same),
        cmocka_unit_test(json_that_does_not_fit_is_cut_and_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
