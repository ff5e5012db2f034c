// SPDX-License-Identifier: MIT
#include "backend/large.h"
#include "base/bits.h"
#include "budget_check.h"
#include "os/os_memory.h"
#include "os_refusal.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <string.h>

enum {
    BYTES = 320 << 10,
    MOVED_BYTES = 16 << 20,
    LONG_BYTES = 40 << 20,  // BYTES doubled until it is more than the page heap serves
};

static size_t committed_at_start;

static int start_empty(void **state)
{
    (void)state;
    os_refusal_end();
    gate_store_live(&gates.huge_pages, 0);  // whole chunks would be counted
    (void)page_heap_purge(0);
    committed_at_start = committed_page_bytes();
    return 0;
}

static void number(char *block, size_t bytes)
{
    uint32_t *numbers = (uint32_t *)(void *)block;
    for (uint32_t i = 0; i < bytes / sizeof *numbers; i++) {
        numbers[i] = i;
    }
}

// A block whose bytes say where they are.
static char *take_numbered(void)
{
    struct large_request request = {.bytes = BYTES, .align_bytes = 1, .owner_tag = LARGE_TAG};
    bool is_zero = false;
    char *block = large_take(&request, &is_zero);
    assert_non_null(block);
    number(block, BYTES);
    return block;
}

static bool is_numbered(const char *block, size_t bytes)
{
    const uint32_t *numbers = (const uint32_t *)(const void *)block;
    for (uint32_t i = 0; i < bytes / sizeof *numbers; i++) {
        if (numbers[i] != i) {
            return false;
        }
    }
    return true;
}

// Takes the units behind a numbered block, so that there is no room.
static struct span *wall_in(char *block)
{
    assert_ptr_equal(large_resize(block, 2 * BYTES), block);
    assert_ptr_equal(large_resize(block, BYTES), block);
    struct span *wall = page_heap_take(BYTES / UNIT_BYTES);  // the shortest dirty span
    assert_int_equal(wall->base, (uintptr_t)block + BYTES);
    return wall;
}

static void give(void *block)
{
    large_give(block);
}

static size_t held_bytes(void)
{
    return committed_page_bytes() - page_heap_dirty_bytes();
}

// From a span of the page heap to a mapping of its own, and on.
static void a_grown_block_keeps_its_content(void **state)
{
    (void)state;
    char *block = take_numbered();
    size_t numbered_bytes = BYTES;
    for (size_t bytes = BYTES; bytes <= LONG_BYTES; bytes *= 2) {
        block = large_resize(block, bytes);
        assert_non_null(block);
        assert_int_equal(large_bytes(block), bytes);
        assert_true(is_numbered(block, numbered_bytes));
        assert_int_equal(held_bytes(), committed_at_start + bytes);
        number(block, bytes);
        numbered_bytes = bytes;
    }
    large_give(block);
    assert_int_equal(held_bytes(), committed_at_start);
}

static void a_block_with_room_behind_it_grows_where_it_is(void **state)
{
    (void)state;
    char *block = take_numbered();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    assert_ptr_equal(large_resize(block, 2 * BYTES), block);
    assert_int_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_equal(held_bytes(), committed_at_start + 2 * BYTES);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    assert_true(is_numbered(block, BYTES));
    large_give(block);
}

// What lies behind is dirty at first and clean then.
static void a_block_grows_into_neighbours_of_both_kinds(void **state)
{
    (void)state;
    char *block = take_numbered();
    assert_ptr_equal(large_resize(block, 3 * BYTES), block);
    assert_ptr_equal(large_resize(block, BYTES), block);
    assert_int_equal(page_heap_dirty_bytes(), 2 * BYTES);
    assert_ptr_equal(large_resize(block, 4 * BYTES), block);
    assert_int_equal(page_heap_dirty_bytes(), 0);
    assert_int_equal(held_bytes(), committed_at_start + 4 * BYTES);
    assert_true(is_numbered(block, BYTES));
    memset(block, 1, 4 * BYTES);
    large_give(block);
}

static void a_block_without_room_behind_it_moves(void **state)
{
    (void)state;
    char *block = take_numbered();
    struct span *wall = wall_in(block);
    char *moved = large_resize(block, 3 * BYTES);
    assert_non_null(moved);
    assert_ptr_not_equal(moved, block);
    assert_true(is_numbered(moved, BYTES));
    assert_int_equal(page_map_lookup(moved), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_not_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_dies_of("double free", block, BYTES, give, block);
    page_heap_give(wall);
    large_give(moved);
}

// Long ones: the system moves their pages, and where they were is clean; or else they are copied, when
// their pages can't be moved, or moved but not made more.
static void check_long_move(bool is_move_refused, bool is_resize_refused)
{
    char *block = take_numbered();
    assert_non_null(block = large_resize(block, MOVED_BYTES));
    number(block, MOVED_BYTES);
    os_refusal.is_move_refused = is_move_refused;
    os_refusal.is_resize_refused = is_resize_refused;
    char *moved = large_resize(block, LONG_BYTES);
    os_refusal_end();
    assert_non_null(moved);
    assert_ptr_not_equal(moved, block);
    assert_int_equal(large_bytes(moved), LONG_BYTES);
    assert_true(is_numbered(moved, MOVED_BYTES));
    assert_int_equal(held_bytes(), committed_at_start + LONG_BYTES);
    bool is_copied = is_move_refused || is_resize_refused;
    assert_int_equal(page_heap_dirty_bytes() >= MOVED_BYTES, is_copied);
    assert_dies_of("double free", block, MOVED_BYTES, give, block);
    (void)page_heap_purge(0);
    struct large_request request = {.bytes = MOVED_BYTES, .align_bytes = 1, .owner_tag = LARGE_TAG};
    bool is_zero = false;
    char *other = large_take(&request, &is_zero);
    assert_true(is_zero);
    assert_true(is_filled_with(other, 0, MOVED_BYTES));
    large_give(other);
    large_give(moved);
    assert_int_equal(held_bytes(), committed_at_start);
}

static void the_pages_of_a_long_block_are_moved_or_copied(void **state)
{
    (void)state;
    check_long_move(false, false);
    check_long_move(true, false);
    check_long_move(false, true);
}

static void a_shrunk_block_stays_and_its_tail_is_free(void **state)
{
    (void)state;
    enum {
        LEFT_BYTES = (BYTES / 2 + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES
    };
    char *block = take_numbered();
    assert_ptr_equal(large_resize(block, BYTES / 2), block);
    assert_int_equal(large_bytes(block), align_up(BYTES / 2, os_page_bytes()));
    assert_true(is_numbered(block, BYTES / 2));
    assert_int_equal(held_bytes(), committed_at_start + LEFT_BYTES);
    assert_int_equal(page_heap_dirty_bytes(), BYTES - LEFT_BYTES);
    large_give(block);
}

static void a_shrunk_mapping_gives_its_pages_back(void **state)
{
    (void)state;
    char *block = take_numbered();
    assert_non_null(block = large_resize(block, LONG_BYTES));
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    size_t purged_bytes = budget_read(&budget.purged_bytes);
    assert_ptr_equal(large_resize(block, LONG_BYTES / 2), block);
    assert_true(is_numbered(block, BYTES));
    assert_int_equal(held_bytes(), committed_at_start + LONG_BYTES / 2);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes - LONG_BYTES / 2);
    assert_int_equal(budget_read(&budget.purged_bytes), purged_bytes + LONG_BYTES / 2);
    large_give(block);
}

static void assert_as_before(const char *block)
{
    struct large_figures figures;
    large_read_figures(&figures);
    assert_int_equal(large_bytes(block), BYTES);
    assert_int_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_equal(figures.live_bytes, BYTES);
    assert_int_equal(figures.live_count, 1);
    assert_int_equal(held_bytes(), committed_at_start + BYTES);
}

static void a_refused_resize_leaves_the_block_as_it_was(void **state)
{
    (void)state;
    char *block = take_numbered();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    os_refusal.is_map_refused = true;
    assert_null(large_resize(block, LONG_BYTES));
    assert_as_before(block);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    os_refusal_end();
    assert_null(large_resize(block, (size_t)1 << 50));
    assert_as_before(block);
    assert_true(is_numbered(block, BYTES));
    large_give(block);
}

static void a_mapping_that_cannot_be_resized_stays(void **state)
{
    (void)state;
    char *block = take_numbered();
    assert_non_null(block = large_resize(block, LONG_BYTES));
    os_refusal.is_resize_refused = true;
    assert_null(large_resize(block, 2 * (size_t)LONG_BYTES));
    // From here on the page map has a zone to spare.
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    assert_null(large_resize(block, 2 * (size_t)LONG_BYTES));
    assert_null(large_resize(block, LONG_BYTES / 2));
    os_refusal_end();
    assert_int_equal(large_bytes(block), LONG_BYTES);
    assert_int_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_equal(held_bytes(), committed_at_start + LONG_BYTES);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    assert_true(is_numbered(block, BYTES));
    large_give(block);
}

static void the_limit_refuses_growth_and_never_shrinking(void **state)
{
    (void)state;
    char *block = take_numbered();
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes));
    assert_null(large_resize(block, BYTES + 4096));
    assert_as_before(block);
    assert_ptr_equal(large_resize(block, BYTES - UNIT_BYTES), block);
    assert_ptr_equal(large_resize(block, BYTES), block);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    large_give(block);
}

static void resize_freed(void *block)
{
    (void)large_resize(block, 2 * BYTES);
}

static void a_freed_block_is_not_resized(void **state)
{
    (void)state;
    char *block = take_numbered();
    large_give(block);
    assert_dies_of("double free", block, BYTES, resize_freed, block);
}

enum {
    THREAD_COUNT = 4,
    ROUND_COUNT = 200,
};

// Pages of one block move to where another's were a moment ago.
static void resize_over_and_over(void *argument)
{
    size_t *wrong_count = argument;
    struct large_request request = {.bytes = BYTES, .align_bytes = 1, .owner_tag = LARGE_TAG};
    bool is_zero = false;
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        size_t *block = large_take(&request, &is_zero);
        block[0] = i;
        block = large_resize(block, (2 + i % 5) * BYTES);
        *wrong_count += block[0] != i || large_bytes(block) != (2 + i % 5) * BYTES;
        block = large_resize(block, BYTES / 2);
        *wrong_count += block[0] != i;
        large_give(block);
        if (i % 16 == 0) {
            (void)page_heap_purge(0);
        }
    }
}

static void threads_resize_without_mixing_their_blocks_up(void **state)
{
    (void)state;
    size_t wrong_counts[THREAD_COUNT] = {0};
    run_in_threads(resize_over_and_over, wrong_counts, sizeof wrong_counts[0], THREAD_COUNT);
    assert_true(is_filled_with(wrong_counts, 0, sizeof wrong_counts));
    struct large_figures figures;
    large_read_figures(&figures);
    assert_int_equal(figures.live_count, 0);
    assert_int_equal(held_bytes(), committed_at_start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_grown_block_keeps_its_content, start_empty),
        cmocka_unit_test_setup(a_block_with_room_behind_it_grows_where_it_is, start_empty),
        cmocka_unit_test_setup(a_block_grows_into_neighbours_of_both_kinds, start_empty),
        cmocka_unit_test_setup(a_block_without_room_behind_it_moves, start_empty),
        cmocka_unit_test_setup(the_pages_of_a_long_block_are_moved_or_copied, start_empty),
        cmocka_unit_test_setup(a_shrunk_block_stays_and_its_tail_is_free, start_empty),
        cmocka_unit_test_setup(a_shrunk_mapping_gives_its_pages_back, start_empty),
        cmocka_unit_test_setup(a_refused_resize_leaves_the_block_as_it_was, start_empty),
        cmocka_unit_test_setup(a_mapping_that_cannot_be_resized_stays, start_empty),
        cmocka_unit_test_setup(the_limit_refuses_growth_and_never_shrinking, start_empty),
        cmocka_unit_test_setup(a_freed_block_is_not_resized, start_empty),
        cmocka_unit_test_setup(threads_resize_without_mixing_their_blocks_up, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
