// The page heap against a model of what is taken, in one thread and in four.
// SPDX-License-Identifier: MIT
#include "../support/random_stream.h"
#include "budget_check.h"
#include "region/page_heap.h"
#include "unit_check.h"

enum {
    SLOT_COUNT = 64,
    ROUND_COUNT = 4000,
    THREAD_COUNT = 4,
};

struct player {
    struct random_stream random;
    uint64_t mark;  // written to every unit that the player holds
    struct span *spans[SLOT_COUNT];
    size_t unit_count;
    size_t wrong_count;
};

static void write_marks(const struct span *span, uint64_t mark)
{
    for (size_t i = 0; i < span->unit_count; i++) {
        *(uint64_t *)(span->base + i * UNIT_BYTES) = mark + i;
    }
}

static size_t wrong_marks(const struct span *span, uint64_t mark)
{
    size_t wrong_count = 0;
    for (size_t i = 0; i < span->unit_count; i++) {
        wrong_count += *(uint64_t *)(span->base + i * UNIT_BYTES) != mark + i;
    }
    return wrong_count;
}

static void take_one(struct player *player, size_t slot)
{
    size_t unit_count = random_below(&player->random, 4) == 0
                            ? random_below(&player->random, SLAB_UNITS_MOST) + 1
                            : random_below(&player->random, 8) + 1;
    struct span *span = page_heap_take(unit_count);
    if (span == NULL || span->unit_count != unit_count) {
        player->wrong_count++;
        return;
    }
    // What the page heap calls clean reads as zero.
    player->wrong_count += !span->is_dirty && *(uint64_t *)span->base != 0;
    write_marks(span, player->mark + slot * 1000);
    player->spans[slot] = span;
    player->unit_count += unit_count;
}

static void give_one(struct player *player, size_t slot)
{
    struct span *span = player->spans[slot];
    player->wrong_count += wrong_marks(span, player->mark + slot * 1000);
    player->unit_count -= span->unit_count;
    player->spans[slot] = NULL;
    page_heap_give(span);
}

static void play(void *argument)
{
    struct player *player = argument;
    for (int i = 0; i < ROUND_COUNT; i++) {
        size_t slot = random_below(&player->random, SLOT_COUNT);
        if (player->spans[slot] != NULL) {
            give_one(player, slot);
        } else {
            take_one(player, slot);
        }
        if (random_below(&player->random, 100) == 0) {
            (void)page_heap_purge(random_below(&player->random, 64) * UNIT_BYTES);
        }
    }
}

static void give_all(struct player *player)
{
    for (size_t slot = 0; slot < SLOT_COUNT; slot++) {
        if (player->spans[slot] != NULL) {
            give_one(player, slot);
        }
    }
}

static void assert_sums(size_t used_units)
{
    size_t committed_bytes = committed_page_bytes();
    assert_int_equal(committed_bytes - page_heap_dirty_bytes(), used_units * UNIT_BYTES);
    assert_int_equal(budget_read(&budget.dirty_bytes), page_heap_dirty_bytes());
}

static void what_is_taken_overlaps_nothing_and_all_comes_back(void **state)
{
    (void)state;
    static struct player player = {.random = {7}, .mark = (uint64_t)1 << 40};
    play(&player);
    assert_sums(player.unit_count);
    give_all(&player);
    assert_int_equal(player.wrong_count, 0);
    assert_sums(0);
    size_t dirty_bytes = page_heap_dirty_bytes();
    assert_int_equal(page_heap_purge(0), dirty_bytes);
    assert_int_equal(committed_page_bytes(), 0);
}

// Without merging, the fragments of the game before would force a new arena.
static void after_the_game_the_arenas_are_whole_again(void **state)
{
    (void)state;
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    struct span *span = page_heap_take(SLAB_UNITS_MOST);
    assert_non_null(span);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    page_heap_give(span);
}

static void threads_never_share_a_unit(void **state)
{
    (void)state;
    static struct player players[THREAD_COUNT];
    size_t unit_count = 0;
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        players[i].random.state = i;
        players[i].mark = (uint64_t)(i + 2) << 40;
    }
    run_in_threads(play, players, sizeof players[0], THREAD_COUNT);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        unit_count += players[i].unit_count;
    }
    assert_sums(unit_count);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        give_all(&players[i]);
        assert_int_equal(players[i].wrong_count, 0);
    }
    (void)page_heap_purge(0);
    assert_int_equal(committed_page_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_overlaps_nothing_and_all_comes_back),
        cmocka_unit_test(after_the_game_the_arenas_are_whole_again),
        cmocka_unit_test(threads_never_share_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
