// SPDX-License-Identifier: MIT
#include "budget_check.h"
#include "os_refusal.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <string.h>
#include <sys/mman.h>

enum {
    ZONE_BYTES = 1 << ZONE_SHIFT,
    ARENA_BYTES_LEAST = 4 << 20,
    UNTOUCHED = 0xc3,
};

// Every test gives back what it took, so that here everything is free and then clean.
static int start_clean(void **state)
{
    (void)state;
    os_refusal_end();
    (void)page_heap_purge(0);
    return committed_page_bytes() == 0 && page_heap_dirty_bytes() == 0 ? 0 : -1;
}

static uintptr_t end_of(const struct span *span)
{
    return span->base + (uintptr_t)span->unit_count * UNIT_BYTES;
}

// Takes `count` spans of `unit_count` units that lie side by side.
static void take_neighbours(struct span **spans, size_t count, size_t unit_count)
{
    for (size_t i = 0; i < count; i++) {
        spans[i] = page_heap_take(unit_count);
        assert_non_null(spans[i]);
        assert_true(i == 0 || spans[i]->base == end_of(spans[i - 1]));
    }
}

static void fill(const struct span *span)
{
    memset((void *)span->base, UNTOUCHED, (size_t)span->unit_count * UNIT_BYTES);
}

// The first map is the arena, the second the zone of its addresses.
static void an_arena_that_the_map_cannot_hold_is_unmapped(void **state)
{
    (void)state;
    assert_int_equal(budget_read(&budget.mapped_bytes), 0);
    os_refusal.is_map_refused = true;
    os_refusal.maps_before_refusal = 1;
    assert_null(page_heap_take(1));
    assert_int_equal(os_refusal.maps_before_refusal, 0);
    assert_int_equal(budget_read(&budget.mapped_bytes), 0);
    assert_int_equal(committed_page_bytes(), 0);
}

static void a_fresh_span_is_aligned_zeroed_and_clean(void **state)
{
    (void)state;
    struct span *span = page_heap_take(5);
    assert_non_null(span);
    assert_int_equal(span->unit_count, 5);
    assert_int_equal(span->base % UNIT_BYTES, 0);
    assert_false(span->is_dirty);
    assert_true(is_filled_with((void *)span->base, 0, 5 * UNIT_BYTES));
    assert_int_equal(committed_page_bytes(), 5 * UNIT_BYTES);
    page_heap_give(span);
}

static void every_address_of_a_used_span_leads_to_its_record(void **state)
{
    (void)state;
    struct span *span = page_heap_take(SLAB_UNITS_MOST);
    for (uintptr_t address = span->base; address < end_of(span); address += 4096) {
        assert_ptr_equal(span_of(address), span);
        assert_int_equal(span_of_unit(address)->state, SPAN_USED);
    }
    page_heap_give(span);
    assert_int_equal(span->state, SPAN_FREE);
}

static void the_map_forgets_a_span_that_was_given(void **state)
{
    (void)state;
    struct span *span = page_heap_take(3);
    page_map_set(span->base, 3, page_entry_make(5, 5));
    page_heap_give(span);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(page_map_entry(span->base + i * UNIT_BYTES), 0);
    }
}

static void a_dirty_span_is_handed_out_first(void **state)
{
    (void)state;
    struct span *span = page_heap_take(4);
    fill(span);
    page_heap_give(span);
    assert_int_equal(page_heap_dirty_bytes(), 4 * UNIT_BYTES);
    assert_int_equal(budget_read(&budget.dirty_bytes), 4 * UNIT_BYTES);
    struct span *again = page_heap_take(3);
    assert_ptr_equal(again, span);
    assert_true(again->is_dirty);
    assert_int_equal(*(unsigned char *)again->base, UNTOUCHED);
    assert_int_equal(page_heap_dirty_bytes(), UNIT_BYTES);
    assert_int_equal(committed_page_bytes(), 4 * UNIT_BYTES);
    page_heap_give(again);
}

// Gives three neighbours in the given order; the whole of them must then be one span.
static void give_three(const size_t order[3])
{
    struct span *spans[3];
    take_neighbours(spans, 3, 7);
    for (size_t i = 0; i < 3; i++) {
        page_heap_give(spans[order[i]]);
    }
    struct span *whole = page_heap_take(21);
    assert_ptr_equal(whole, spans[0]);
    assert_true(whole->is_dirty);
    page_heap_give(whole);
    (void)page_heap_purge(0);
}

static void a_freed_span_merges_with_its_neighbours(void **state)
{
    (void)state;
    static const size_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        give_three(orders[i]);
    }
}

static void a_used_neighbour_stays_out_of_the_merge(void **state)
{
    (void)state;
    struct span *spans[3];
    take_neighbours(spans, 3, 5);
    fill(spans[1]);
    page_heap_give(spans[0]);
    page_heap_give(spans[2]);
    struct span *longer = page_heap_take(6);
    assert_true(end_of(longer) <= spans[0]->base || longer->base >= end_of(spans[2]));
    assert_true(is_filled_with((void *)spans[1]->base, UNTOUCHED, 5 * UNIT_BYTES));
    page_heap_give(spans[1]);
    page_heap_give(longer);
}

// Were they merged, the clean one would be handed out as dirty, and never committed.
static void dirty_and_clean_neighbours_stay_apart_until_the_purge(void **state)
{
    (void)state;
    struct span *spans[2];
    take_neighbours(spans, 2, 8);
    fill(spans[1]);
    page_heap_give(spans[0]);
    assert_int_equal(page_heap_purge(0), 8 * UNIT_BYTES);
    page_heap_give(spans[1]);
    struct span *span = page_heap_take(9);
    assert_false(span->is_dirty);
    assert_int_equal(committed_page_bytes(), 17 * UNIT_BYTES);
    page_heap_give(span);
    (void)page_heap_purge(0);
    span = page_heap_take(16);
    assert_ptr_equal(span, spans[0]);
    assert_true(is_filled_with((void *)span->base, 0, 16 * UNIT_BYTES));
    page_heap_give(span);
}

static void a_purge_gives_the_longest_back_first_and_keeps_what_it_may(void **state)
{
    (void)state;
    struct span *spans[5];
    take_neighbours(spans, 5, 2);
    struct span *longer = page_heap_take(20);
    page_heap_give(spans[0]);
    page_heap_give(spans[3]);
    page_heap_give(longer);
    assert_int_equal(page_heap_dirty_bytes(), 24 * UNIT_BYTES);
    assert_int_equal(page_heap_purge(24 * UNIT_BYTES), 0);
    assert_int_equal(page_heap_purge(24 * UNIT_BYTES - 1), 20 * UNIT_BYTES);
    assert_int_equal(page_heap_dirty_bytes(), 4 * UNIT_BYTES);
    assert_int_equal(page_heap_purge(3 * UNIT_BYTES), 2 * UNIT_BYTES);
    assert_int_equal(committed_page_bytes(), 8 * UNIT_BYTES);
    for (size_t i = 0; i < 5; i++) {
        if (i != 0 && i != 3) {
            page_heap_give(spans[i]);
        }
    }
}

static void a_refused_purge_leaves_the_span_dirty_for_the_next(void **state)
{
    (void)state;
    size_t purged_bytes = budget_read(&budget.purged_bytes);
    struct span *span = page_heap_take(6);
    fill(span);
    page_heap_give(span);
    os_refusal.is_purge_refused = true;
    assert_int_equal(page_heap_purge(0), 0);
    assert_int_equal(page_heap_dirty_bytes(), 6 * UNIT_BYTES);
    assert_int_equal(budget_read(&budget.dirty_bytes), 6 * UNIT_BYTES);
    assert_int_equal(committed_page_bytes(), 6 * UNIT_BYTES);
    assert_int_equal(budget_read(&budget.purged_bytes), purged_bytes);
    os_refusal_end();
    assert_int_equal(page_heap_purge(0), 6 * UNIT_BYTES);
    assert_int_equal(committed_page_bytes(), 0);
    assert_int_equal(budget_read(&budget.purged_bytes), purged_bytes + 6 * UNIT_BYTES);
}

static void the_limit_refuses_clean_spans_and_not_dirty_ones(void **state)
{
    (void)state;
    struct span *span = page_heap_take(4);
    page_heap_give(span);
    budget_add(&budget.limit_bytes, 4 * UNIT_BYTES);
    struct span *dirty = page_heap_take(4);
    assert_ptr_equal(dirty, span);
    assert_null(page_heap_take(1));
    assert_int_equal(committed_page_bytes(), 4 * UNIT_BYTES);
    budget_subtract(&budget.limit_bytes, 4 * UNIT_BYTES);
    page_heap_give(dirty);
}

// Takes spans until the arenas are used up; returns how many, chained by their `next`.
static struct span *exhaust(size_t unit_count)
{
    struct span *taken = NULL;
    struct span *span = NULL;
    os_refusal.is_map_refused = true;
    while ((span = page_heap_take(unit_count)) != NULL) {
        span->next = taken;
        taken = span;
    }
    os_refusal_end();
    return taken;
}

static void give_chain(struct span *span)
{
    while (span != NULL) {
        struct span *next = span->next;
        page_heap_give(span);
        span = next;
    }
}

static void where_memory_is_out_nothing_is_taken_or_counted(void **state)
{
    (void)state;
    struct span *taken = exhaust(1);
    size_t committed_bytes = committed_page_bytes();
    os_refusal.is_map_refused = true;
    assert_null(page_heap_take(1));
    assert_int_equal(committed_page_bytes(), committed_bytes);
    give_chain(taken);
}

static void where_a_long_arena_is_refused_a_short_one_serves(void **state)
{
    (void)state;
    struct span *taken = exhaust(1);
    os_refusal.map_bytes_most = ARENA_BYTES_LEAST - 1;
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    struct span *span = page_heap_take(3);
    assert_non_null(span);
    assert_true(budget_read(&budget.mapped_bytes) - mapped_bytes < ARENA_BYTES_LEAST);
    page_heap_give(span);
    give_chain(taken);
}

// A zone border with free addresses for an arena on both sides.
static char *find_zone_border(void)
{
    size_t bytes = (size_t)ZONE_BYTES + ((size_t)256 << 20);
    char *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(probe != MAP_FAILED);
    assert_int_equal(munmap(probe, bytes), 0);
    uintptr_t after_margin = (uintptr_t)probe + ((uintptr_t)128 << 20);
    return (char *)((after_margin + ZONE_BYTES - 1) & ~((uintptr_t)ZONE_BYTES - 1));
}

static bool is_in_one_zone(const struct span *span)
{
    return span->base >> ZONE_SHIFT == (end_of(span) - 1) >> ZONE_SHIFT;
}

// The mappings on both sides of a used span are unmapped as long ones; what that leaves is short.
static void of_an_arena_that_is_all_free_nothing_stays_but_its_bitmaps(void **state)
{
    (void)state;
    struct span *taken = exhaust(1);
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    struct span *kept = page_heap_take(3);
    assert_non_null(kept);
    char *base = (char *)kept->base;
    (void)page_heap_purge(0);
    (void)page_heap_unmap_clean(0);
    assert_true(is_mapped(base));
    assert_true(budget_read(&budget.mapped_bytes) > mapped_bytes);
    while (page_heap_take_bitmap() != NULL) {
    }
    uint64_t bitmap[2] = {1, 1};
    kept->bitmap_store = bitmap;
    page_heap_give(kept);
    (void)page_heap_purge(0);
    assert_true(page_heap_unmap_clean(0) != 0);
    assert_false(is_mapped(base));
    assert_true(budget_read(&budget.mapped_bytes) <= mapped_bytes);
    assert_ptr_equal(page_heap_take_bitmap(), bitmap);
    assert_null(page_heap_take_bitmap());
    give_chain(taken);
}

static void short_spans_are_unmapped_as_far_as_is_wanted(void **state)
{
    (void)state;
    enum {
        COUNT = 9,
        UNITS = 8
    };
    struct span *taken = exhaust(1);
    struct span *spans[COUNT];
    take_neighbours(spans, COUNT, UNITS);
    struct span *rest = exhaust(1);
    for (size_t i = 1; i < COUNT; i += 2) {
        page_heap_give(spans[i]);
    }
    (void)page_heap_purge(0);
    assert_int_equal(page_heap_unmap_clean(0), 0);
    assert_int_equal(page_heap_unmap_clean(2 * UNITS * UNIT_BYTES), 2 * UNITS * UNIT_BYTES);
    assert_int_equal(page_heap_unmap_clean(1), UNITS * UNIT_BYTES);
    for (size_t i = 0; i < COUNT; i += 2) {
        assert_true(is_mapped((void *)spans[i]->base));
        page_heap_give(spans[i]);
    }
    give_chain(rest);
    give_chain(taken);
}

// Each of its units once belonged to a longer span, which is gone.
static void a_short_arena_amid_unmapped_units_goes_as_a_whole(void **state)
{
    (void)state;
    enum {
        UNITS = 8
    };
    struct span *taken = exhaust(1);
    struct span *span = page_heap_take(3 * UNITS);
    assert_non_null(span);
    struct span *rest = exhaust(1);
    char *middle = (char *)span->base + (uintptr_t)UNITS * UNIT_BYTES;
    page_heap_give(span);
    (void)page_heap_purge(0);
    assert_int_equal(page_heap_unmap_clean(1), 3 * UNITS * UNIT_BYTES);
    os_refusal.map_bytes_most = UNITS * UNIT_BYTES;
    os_refusal.next_map = middle;
    struct span *again = page_heap_take(UNITS);
    assert_non_null(again);
    assert_int_equal(again->base, (uintptr_t)middle);
    page_heap_give(again);
    (void)page_heap_purge(0);
    assert_int_equal(page_heap_unmap_clean(0), UNITS * UNIT_BYTES);
    give_chain(rest);
    give_chain(taken);
}

// An arena begins 32 units before the border, so a span of 33 would lie over it, were the parts one.
static void spans_of_two_zones_are_never_merged(void **state)
{
    (void)state;
    struct span *taken = exhaust(1);
    char *border = find_zone_border();
    os_refusal.next_map = border - 32 * UNIT_BYTES;
    struct span *first = page_heap_take(1);
    assert_non_null(first);
    assert_null(os_refusal.next_map);
    first->next = exhaust(1);
    give_chain(first);
    assert_int_equal(span_of_unit((uintptr_t)border - 1)->state, SPAN_FREE);
    assert_int_equal(span_of_unit((uintptr_t)border)->state, SPAN_FREE);
    struct span *longer = exhaust(33);
    for (const struct span *span = longer; span != NULL; span = span->next) {
        assert_true(is_in_one_zone(span));
    }
    assert_int_equal(span_of_unit((uintptr_t)border - 1)->state, SPAN_FREE);
    give_chain(longer);
    give_chain(taken);
}

static void where_a_border_cuts_the_arena_short_another_one_serves(void **state)
{
    (void)state;
    struct span *taken = exhaust(1);
    os_refusal.next_map = find_zone_border() - 32 * UNIT_BYTES;
    struct span *span = page_heap_take(SLAB_UNITS_MOST);
    assert_non_null(span);
    assert_null(os_refusal.next_map);
    assert_true(is_in_one_zone(span));
    page_heap_give(span);
    give_chain(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_arena_that_the_map_cannot_hold_is_unmapped, start_clean),
        cmocka_unit_test_setup(a_fresh_span_is_aligned_zeroed_and_clean, start_clean),
        cmocka_unit_test_setup(every_address_of_a_used_span_leads_to_its_record, start_clean),
        cmocka_unit_test_setup(the_map_forgets_a_span_that_was_given, start_clean),
        cmocka_unit_test_setup(a_dirty_span_is_handed_out_first, start_clean),
        cmocka_unit_test_setup(a_freed_span_merges_with_its_neighbours, start_clean),
        cmocka_unit_test_setup(a_used_neighbour_stays_out_of_the_merge, start_clean),
        cmocka_unit_test_setup(dirty_and_clean_neighbours_stay_apart_until_the_purge, start_clean),
        cmocka_unit_test_setup(a_purge_gives_the_longest_back_first_and_keeps_what_it_may,
                               start_clean),
        cmocka_unit_test_setup(a_refused_purge_leaves_the_span_dirty_for_the_next, start_clean),
        cmocka_unit_test_setup(the_limit_refuses_clean_spans_and_not_dirty_ones, start_clean),
        cmocka_unit_test_setup(where_memory_is_out_nothing_is_taken_or_counted, start_clean),
        cmocka_unit_test_setup(where_a_long_arena_is_refused_a_short_one_serves, start_clean),
        cmocka_unit_test_setup(of_an_arena_that_is_all_free_nothing_stays_but_its_bitmaps,
                               start_clean),
        cmocka_unit_test_setup(short_spans_are_unmapped_as_far_as_is_wanted, start_clean),
        cmocka_unit_test_setup(a_short_arena_amid_unmapped_units_goes_as_a_whole, start_clean),
        cmocka_unit_test_setup(spans_of_two_zones_are_never_merged, start_clean),
        cmocka_unit_test_setup(where_a_border_cuts_the_arena_short_another_one_serves, start_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
