// SPDX-License-Identifier: MIT
#include "backend/large.h"
#include "budget_check.h"
#include "os_refusal.h"
#include "unit_check.h"

#include <string.h>
#include <sys/mman.h>

enum {
    BYTES = 320 << 10,
};

static size_t committed_at_start;

static int start_empty(void **state)
{
    (void)state;
    os_refusal_end();
    (void)large_purge(0);
    committed_at_start = committed_page_bytes();
    return 0;
}

// A block whose bytes say where they are.
static char *take_numbered(void)
{
    struct large_request request = {.bytes = BYTES, .align_bytes = 1, .owner_tag = LARGE_TAG};
    bool is_zero = false;
    uint32_t *block = large_take(&request, &is_zero);
    assert_non_null(block);
    for (uint32_t i = 0; i < BYTES / sizeof *block; i++) {
        block[i] = i;
    }
    return (char *)block;
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

// Makes sure that there is no room behind the block.
static void wall_in(const char *block)
{
    (void)mmap((void *)(uintptr_t)(block + BYTES), 4096, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void give(void *block)
{
    large_give(block);
}

static void a_grown_block_keeps_its_content_and_its_tail_is_zero(void **state)
{
    (void)state;
    char *block = take_numbered();
    for (size_t bytes = BYTES; bytes <= (size_t)64 * BYTES; bytes *= 2) {
        block = large_resize(block, bytes);
        assert_non_null(block);
        assert_int_equal(large_bytes(block), bytes);
        assert_true(is_numbered(block, BYTES));
        assert_true(is_filled_with(block + BYTES, 0, bytes - BYTES));
        assert_int_equal(committed_page_bytes(), committed_at_start + bytes);
    }
    large_give(block);
}

static void a_block_without_room_behind_it_moves(void **state)
{
    (void)state;
    char *block = take_numbered();
    wall_in(block);
    char *moved = large_resize(block, 3 * BYTES);
    assert_non_null(moved);
    assert_ptr_not_equal(moved, block);
    assert_true(is_numbered(moved, BYTES));
    assert_int_equal(page_map_lookup(moved), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_not_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_dies_of("double free", block, BYTES, give, block);
    large_give(moved);
}

static void a_shrunk_block_stays_and_its_pages_go_back(void **state)
{
    (void)state;
    char *block = take_numbered();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    size_t purged_bytes = budget_read(&budget.purged_bytes);
    assert_ptr_equal(large_resize(block, BYTES / 2), block);
    assert_int_equal(large_bytes(block), BYTES / 2);
    assert_true(is_numbered(block, BYTES / 2));
    assert_int_equal(committed_page_bytes(), committed_at_start + BYTES / 2);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes - BYTES / 2);
    assert_int_equal(budget_read(&budget.purged_bytes), purged_bytes + BYTES / 2);
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
    assert_int_equal(committed_page_bytes(), committed_at_start + BYTES);
}

static void a_refused_resize_leaves_the_block_as_it_was(void **state)
{
    (void)state;
    char *block = take_numbered();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    os_refusal.is_resize_refused = true;
    assert_null(large_resize(block, 2 * BYTES));
    assert_as_before(block);
    assert_null(large_resize(block, BYTES / 2));
    assert_as_before(block);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    os_refusal_end();
    assert_null(large_resize(block, (size_t)1 << 50));
    assert_as_before(block);
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
    assert_ptr_equal(large_resize(block, BYTES - 4096), block);
    assert_non_null(block = large_resize(block, BYTES));
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
            (void)large_purge(0);
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
    assert_int_equal(committed_page_bytes(), committed_at_start + figures.cached_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_grown_block_keeps_its_content_and_its_tail_is_zero, start_empty),
        cmocka_unit_test_setup(a_block_without_room_behind_it_moves, start_empty),
        cmocka_unit_test_setup(a_shrunk_block_stays_and_its_pages_go_back, start_empty),
        cmocka_unit_test_setup(a_refused_resize_leaves_the_block_as_it_was, start_empty),
        cmocka_unit_test_setup(the_limit_refuses_growth_and_never_shrinking, start_empty),
        cmocka_unit_test_setup(a_freed_block_is_not_resized, start_empty),
        cmocka_unit_test_setup(threads_resize_without_mixing_their_blocks_up, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
