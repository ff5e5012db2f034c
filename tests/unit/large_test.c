// SPDX-License-Identifier: MIT
#include "backend/large.h"
#include "base/bits.h"
#include "budget_check.h"
#include "harden/harden_mode.h"
#include "os/os_memory.h"
#include "os_refusal.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <stdio.h>
#include <string.h>

enum {
    BYTES = 320 << 10,
    MANY_COUNT = 1000,
    MAPPINGS_MOST = 500,
    TAG = 9,
    SPAN_LONG_BYTES = 31 << 20,  // the page heap's longest, nearly
    LONG_BYTES = 40 << 20,       // longer
};

static int start_empty(void **state)
{
    (void)state;
    os_refusal_end();
    gate_store_live(&gates.huge_pages, 0);  // whole chunks would be counted
    (void)page_heap_purge(0);
    (void)large_retry_unmap();
    struct large_figures figures;
    large_read_figures(&figures);
    return figures.live_count == 0 && page_heap_dirty_bytes() == 0 ? 0 : -1;
}

static void *take_of(size_t bytes, size_t align_bytes, bool *is_zero)
{
    struct large_request request = {
        .bytes = bytes, .align_bytes = align_bytes, .owner_tag = LARGE_TAG};
    return large_take(&request, is_zero);
}

static char *take(size_t bytes)
{
    bool is_zero = false;
    char *block = take_of(bytes, 1, &is_zero);
    assert_non_null(block);
    return block;
}

static void give(void *block)
{
    large_give(block);
}

static struct large_figures read_figures(void)
{
    struct large_figures figures;
    large_read_figures(&figures);
    return figures;
}

static void a_fresh_block_is_zero_and_as_long_as_asked(void **state)
{
    (void)state;
    bool is_zero = false;
    char *block = take_of(BYTES + 1, 1, &is_zero);
    assert_true(is_zero);
    assert_true(large_bytes(block) >= BYTES + 1);
    assert_true(large_bytes(block) < BYTES + 1 + (64 << 10));
    assert_true(is_filled_with(block, 0, large_bytes(block)));
    memset(block, 1, large_bytes(block));
    assert_int_equal(page_map_lookup(block), page_entry_make(LARGE_TAG, LARGE_CLASS));
    assert_int_equal(read_figures().live_bytes, large_bytes(block));
    assert_int_equal(read_figures().live_count, 1);
    large_give(block);
}

static void a_block_is_aligned_as_asked(void **state)
{
    (void)state;
    for (size_t align_bytes = 1; align_bytes <= (size_t)128 << 20; align_bytes *= 2) {
        bool is_zero = false;
        char *first = take_of(BYTES, align_bytes, &is_zero);
        char *second = take_of(1, align_bytes, &is_zero);
        assert_int_equal((uintptr_t)first % align_bytes, 0);
        assert_int_equal((uintptr_t)second % align_bytes, 0);
        // At most one block begins in a unit.
        assert_true((uintptr_t)first >> UNIT_SHIFT != (uintptr_t)second >> UNIT_SHIFT);
        large_give(first);
        large_give(second);
    }
}

static void a_freed_block_serves_the_next_of_any_size(void **state)
{
    (void)state;
    char *block = take(4 * BYTES);
    block[5] = 1;
    large_give(block);
    assert_int_equal(page_heap_dirty_bytes(), 4 * BYTES);
    bool is_zero = true;
    char *shorter = take_of(BYTES, 1, &is_zero);
    assert_ptr_equal(shorter, block);
    assert_false(is_zero);
    assert_int_equal(page_heap_dirty_bytes(), 3 * BYTES);
    char *longer = take_of(4 * BYTES, 1, &is_zero);
    assert_true(longer >= block + 4 * BYTES || longer + 4 * BYTES <= block);
    assert_true(is_zero);
    large_give(shorter);
    large_give(longer);
}

static void a_purged_block_is_zero_again(void **state)
{
    (void)state;
    size_t committed_bytes = committed_page_bytes();
    char *block = take(BYTES);
    memset(block, 1, BYTES);
    large_give(block);
    os_refusal.is_purge_refused = true;
    assert_int_equal(page_heap_purge(0), 0);
    assert_int_equal(committed_page_bytes(), committed_bytes + BYTES);
    os_refusal.is_purge_refused = false;
    assert_int_equal(page_heap_purge(0), BYTES);
    assert_int_equal(committed_page_bytes(), committed_bytes);
    bool is_zero = false;
    char *again = take_of(BYTES, 1, &is_zero);
    assert_true(is_zero);
    assert_true(is_filled_with(again, 0, BYTES));
    large_give(again);
}

// A block with a mapping of its own needn't be: its pages go.
static void a_block_of_the_page_heap_is_cleared_to_its_end(void **state)
{
    (void)state;
    char *block = take(BYTES);
    memset(block, 7, BYTES);
    large_clear(block);
    assert_true(is_filled_with(block, 0, BYTES));
    give(block);
}

static void a_long_block_has_a_mapping_that_goes_with_it(void **state)
{
    (void)state;
    size_t committed_bytes = committed_page_bytes();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    char *block = take(LONG_BYTES);
    block[LONG_BYTES - 1] = 1;
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes + LONG_BYTES);
    large_give(block);
    assert_false(is_mapped(block));
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    assert_int_equal(committed_page_bytes(), committed_bytes);
}

static void a_refused_unmap_is_tried_again(void **state)
{
    (void)state;
    size_t committed_bytes = committed_page_bytes();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    char *block = take(LONG_BYTES);
    block[LONG_BYTES - 1] = 1;
    os_refusal.is_unmap_refused = true;
    large_give(block);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes + LONG_BYTES);
    assert_int_equal(committed_page_bytes(), committed_bytes);  // purged at least
    assert_int_equal(large_retry_unmap(), 0);
    os_refusal.is_unmap_refused = false;
    assert_int_equal(large_retry_unmap(), LONG_BYTES);
    assert_false(is_mapped(block));
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
    assert_int_equal(large_retry_unmap(), 0);
}

static void what_could_not_even_be_purged_counts_until_it_is_gone(void **state)
{
    (void)state;
    size_t committed_bytes = committed_page_bytes();
    for (int retry_count = 0; retry_count < 3; retry_count++) {
        char *block = take(LONG_BYTES);
        os_refusal.is_unmap_refused = true;
        os_refusal.is_purge_refused = true;
        large_give(block);
        assert_int_equal(committed_page_bytes(), committed_bytes + LONG_BYTES);
        for (int i = 0; i < retry_count; i++) {
            assert_int_equal(large_retry_unmap(), 0);
            assert_int_equal(committed_page_bytes(), committed_bytes + LONG_BYTES);
        }
        os_refusal_end();
        assert_int_equal(large_retry_unmap(), LONG_BYTES);
        assert_int_equal(committed_page_bytes(), committed_bytes);
    }
}

// Where the address space is full, memory that other blocks left serves.  Free memory doesn't merge
// over the border of a zone, which may be anywhere among the blocks: two of them lie together anyhow.
static void a_long_block_is_cut_from_free_memory_when_nothing_can_be_mapped(void **state)
{
    enum {
        LEFT_COUNT = 6
    };
    (void)state;
    char *blocks[LEFT_COUNT];
    for (size_t i = 0; i < LEFT_COUNT; i++) {
        blocks[i] = take(SPAN_LONG_BYTES);
    }
    for (size_t i = 0; i < LEFT_COUNT; i++) {
        large_give(blocks[i]);
    }
    os_refusal.is_map_refused = true;
    bool is_zero = false;
    char *block = take_of(LONG_BYTES, 1, &is_zero);
    assert_non_null(block);
    memset(block, 1, LONG_BYTES);
    large_give(block);
}

// Where the system has no room for an arena, however short, but for the block.
static void a_short_block_gets_a_mapping_where_no_arena_can_be_had(void **state)
{
    (void)state;
    enum {
        SHORT_BYTES = 290000
    };
    size_t block_bytes = align_up(SHORT_BYTES, os_page_bytes());
    // A zone in stock: the block may lie in one that has no records yet, and they are longer than it.
    char *zone = page_map_reserve_zone();
    assert_non_null(zone);
    char *other = take(BYTES);
    page_map_extend_with((uintptr_t)other, zone);
    large_give(other);
    (void)page_heap_purge(0);
    (void)page_heap_unmap_clean(SIZE_MAX);
    size_t committed_bytes = committed_page_bytes();
    os_refusal.map_bytes_most = block_bytes;
    bool is_zero = false;
    char *block = take_of(SHORT_BYTES, 1, &is_zero);
    assert_non_null(block);
    assert_true(is_zero);
    assert_int_equal(large_bytes(block), block_bytes);
    assert_int_equal(committed_page_bytes(), committed_bytes + block_bytes);
    memset(block, 1, SHORT_BYTES);
    large_give(block);
    (void)page_heap_purge(0);
    assert_int_equal(committed_page_bytes(), committed_bytes);
    os_refusal_end();
    large_give(take(LONG_BYTES / 2));  // the next test counts on an arena
}

static void the_limit_counts_and_a_refusal_costs_nothing(void **state)
{
    (void)state;
    bool is_zero = false;
    size_t committed_bytes = committed_page_bytes();
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes) + BYTES);
    assert_null(take_of(BYTES + 1, 1, &is_zero));
    char *block = take(BYTES);
    assert_null(take_of(1, 1, &is_zero));
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    large_give(block);
    (void)page_heap_purge(0);
    assert_int_equal(committed_page_bytes(), committed_bytes);
    os_refusal.is_map_refused = true;
    assert_null(take_of((size_t)512 << 20, 1, &is_zero));
    assert_null(take_of(SIZE_MAX, 1, &is_zero));
    assert_int_equal(committed_page_bytes(), committed_bytes);
}

static void a_second_free_is_told(void **state)
{
    (void)state;
    char *block = take(BYTES);
    large_give(block);
    assert_dies_of("double free", block, BYTES, give, block);
    (void)page_heap_purge(0);
    assert_dies_of("double free", block, BYTES, give, block);
}

static void a_pointer_into_a_block_is_told(void **state)
{
    (void)state;
    char *block = take(BYTES);
    assert_dies_of("free", block + 16, 0, give, block + 16);
    assert_dies_of("free", block + 4096, 0, give, block + 4096);
    assert_dies_of("free", block + 2 * UNIT_BYTES, 0, give, block + 2 * UNIT_BYTES);
    assert_dies_of("free", &block, 0, give, &block);
    large_give(block);
}

static void the_blocks_of_an_owner_are_freed_together(void **state)
{
    (void)state;
    struct span *owned = NULL;
    struct large_request request = {
        .bytes = BYTES, .align_bytes = 1, .owner_tag = TAG, .owned = &owned};
    bool is_zero = false;
    char *other = take(BYTES);
    void *first = large_take(&request, &is_zero);
    void *second = large_take(&request, &is_zero);
    void *third = large_take(&request, &is_zero);
    assert_int_equal(page_map_lookup(first), page_entry_make(TAG, LARGE_CLASS));
    large_give(second);
    void *moved = large_resize(third, 2 * BYTES);
    assert_non_null(moved);
    assert_int_equal(page_map_lookup(moved), page_entry_make(TAG, LARGE_CLASS));
    large_give_all(&owned);
    assert_null(owned);
    assert_int_equal(read_figures().live_count, 1);
    assert_int_equal(page_map_lookup(first), 0);
    large_give(other);
}

static size_t count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    size_t count = 0;
    for (int letter = getc(maps); letter != EOF; letter = getc(maps)) {
        count += letter == '\n';
    }
    (void)fclose(maps);
    return count;
}

// Every second one is unmapped: that would be a hole each, and the kernel bounds their number.
static void many_freed_blocks_do_not_make_many_mappings(void **state)
{
    (void)state;
    static char *blocks[MANY_COUNT];
    size_t before = count_mappings();
    for (size_t i = 0; i < MANY_COUNT; i++) {
        blocks[i] = take(BYTES);
    }
    for (size_t i = 0; i < MANY_COUNT; i += 2) {
        large_give(blocks[i]);
    }
    size_t committed_bytes = committed_page_bytes();
    assert_int_equal(page_heap_purge(0), MANY_COUNT / 2 * BYTES);
    assert_int_equal(committed_page_bytes(), committed_bytes - MANY_COUNT / 2 * BYTES);
    assert_true(count_mappings() < before + MAPPINGS_MOST);
    bool is_zero = false;
    char *again = take_of(BYTES, 1, &is_zero);
    assert_true(is_zero);
    large_give(again);
    for (size_t i = 1; i < MANY_COUNT; i += 2) {
        large_give(blocks[i]);
    }
}

int main(void)
{
    harden_settle(false);  // nothing here reads the gates
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_fresh_block_is_zero_and_as_long_as_asked, start_empty),
        cmocka_unit_test_setup(a_block_is_aligned_as_asked, start_empty),
        cmocka_unit_test_setup(a_freed_block_serves_the_next_of_any_size, start_empty),
        cmocka_unit_test_setup(a_purged_block_is_zero_again, start_empty),
        cmocka_unit_test_setup(a_block_of_the_page_heap_is_cleared_to_its_end, start_empty),
        cmocka_unit_test_setup(a_long_block_has_a_mapping_that_goes_with_it, start_empty),
        cmocka_unit_test_setup(a_refused_unmap_is_tried_again, start_empty),
        cmocka_unit_test_setup(what_could_not_even_be_purged_counts_until_it_is_gone, start_empty),
        cmocka_unit_test_setup(a_long_block_is_cut_from_free_memory_when_nothing_can_be_mapped,
                               start_empty),
        cmocka_unit_test_setup(a_short_block_gets_a_mapping_where_no_arena_can_be_had, start_empty),
        cmocka_unit_test_setup(the_limit_counts_and_a_refusal_costs_nothing, start_empty),
        cmocka_unit_test_setup(a_second_free_is_told, start_empty),
        cmocka_unit_test_setup(a_pointer_into_a_block_is_told, start_empty),
        cmocka_unit_test_setup(the_blocks_of_an_owner_are_freed_together, start_empty),
        cmocka_unit_test_setup(many_freed_blocks_do_not_make_many_mappings, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
