// SPDX-License-Identifier: MIT
#include "base/bits.h"
#include "os/os_memory.h"
#include "os_refusal.h"
#include "region/page_map.h"
#include "region/record_pool.h"
#include "stats/budget.h"
#include "unit_check.h"

#include <string.h>

// The map never touches the addresses it speaks of, so the tests may choose any.
enum {
    ZONE_BYTES = 1 << ZONE_SHIFT,
    THREAD_COUNT = 4,
    SHARED_ZONE_COUNT = 8,
};

static const uintptr_t FIRST_ADDRESS = (uintptr_t)ZONE_BYTES * 1000;
static const uintptr_t TOP = (uintptr_t)1 << ADDRESS_BITS;

// A zone that no test has used.
static uintptr_t fresh_zone(void)
{
    static uintptr_t next;
    next += (uintptr_t)ZONE_BYTES * 4;
    return FIRST_ADDRESS + next;
}

static page_entry entry_at(uintptr_t address)
{
    return page_map_lookup((void *)address);
}

static void an_address_never_given_is_foreign(void **state)
{
    (void)state;
    int local = 0;
    assert_int_equal(entry_at(0), 0);
    assert_int_equal(page_map_lookup(&local), 0);
    assert_int_equal(page_map_lookup(state), 0);
    assert_int_equal(page_map_lookup(&page_map), 0);
    assert_int_equal(entry_at(TOP - 1), 0);
    assert_int_equal(entry_at(fresh_zone() + 12345), 0);
}

static void an_address_above_the_map_is_foreign(void **state)
{
    (void)state;
    for (unsigned shift = ADDRESS_BITS; shift < 64; shift++) {
        assert_int_equal(entry_at((uintptr_t)1 << shift), 0);
        assert_false(page_map_covers((uintptr_t)1 << shift));
    }
    assert_int_equal(entry_at(UINTPTR_MAX), 0);
    assert_true(page_map_covers(TOP - 1));
}

static void an_entry_holds_for_its_units_and_no_others(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone() + 5 * UNIT_BYTES;
    page_entry entry = page_entry_make(OWNER_TAG_MOST, 96);
    assert_true(page_map_extend(start, 3 * UNIT_BYTES));
    assert_int_equal(entry_at(start), 0);
    page_map_set(start, 3, entry);
    assert_int_equal(entry_at(start - 1), 0);
    for (size_t distance = 0; distance < 3 * UNIT_BYTES; distance += 4093) {
        assert_int_equal(entry_at(start + distance), entry);
    }
    assert_int_equal(entry_at(start + 3 * UNIT_BYTES - 1), entry);
    assert_int_equal(entry_at(start + 3 * UNIT_BYTES), 0);
    page_map_set(start + UNIT_BYTES, 1, 0);
    assert_int_equal(entry_at(start), entry);
    assert_int_equal(entry_at(start + UNIT_BYTES), 0);
    assert_int_equal(entry_at(start + 2 * UNIT_BYTES), entry);
}

static void an_entry_gives_its_tag_and_class_back(void **state)
{
    (void)state;
    static const uint32_t tags[] = {1, 77, OWNER_TAG_MOST, FREED_TAG, LARGE_TAG, NO_TAG};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        for (uint32_t cls = 0; cls < 256; cls++) {
            page_entry entry = page_entry_make(tags[i], cls);
            assert_int_equal(page_entry_tag(entry), tags[i]);
            assert_int_equal(page_entry_class(entry), cls);
        }
    }
}

static void a_run_over_a_zone_border_is_set_and_cleared_whole(void **state)
{
    (void)state;
    uintptr_t border = fresh_zone() + ZONE_BYTES;
    uintptr_t start = border - 2 * UNIT_BYTES;
    assert_true(page_map_extend(start, 5 * UNIT_BYTES));
    page_map_set(start, 5, 0x1234);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(entry_at(start + i * UNIT_BYTES), 0x1234);
    }
    assert_int_equal(entry_at(start - 1), 0);
    assert_int_equal(entry_at(start + 5 * UNIT_BYTES), 0);
    page_map_set(start, 5, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(entry_at(start + i * UNIT_BYTES), 0);
    }
}

static void every_unit_has_a_zeroed_record_of_its_own(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone();
    assert_true(page_map_extend(start, ZONE_BYTES));
    char *first = page_map_record(start);
    for (size_t i = 0; i < ZONE_UNIT_COUNT; i += 97) {
        char *record = page_map_record(start + i * UNIT_BYTES + 100);
        assert_ptr_equal(record, first + i * UNIT_RECORD_BYTES);
        assert_true(is_filled_with(record, 0, UNIT_RECORD_BYTES));
    }
    char *last = page_map_record(start + ZONE_BYTES - 1);
    page_map_set(start, ZONE_UNIT_COUNT, 0xffffffffu);
    assert_true(is_filled_with(first, 0, UNIT_RECORD_BYTES));
    assert_true(is_filled_with(last, 0, UNIT_RECORD_BYTES));
    page_map_set(start, ZONE_UNIT_COUNT, 0);
}

static void the_map_reaches_to_its_top_and_not_beyond(void **state)
{
    (void)state;
    assert_true(page_map_extend(TOP - UNIT_BYTES, UNIT_BYTES));
    page_map_set(TOP - UNIT_BYTES, 1, 42);
    assert_int_equal(entry_at(TOP - 1), 42);
    page_map_set(TOP - UNIT_BYTES, 1, 0);
    assert_false(page_map_extend(TOP - UNIT_BYTES, 2 * UNIT_BYTES));
    assert_false(page_map_extend(TOP, UNIT_BYTES));
    assert_false(page_map_extend(UINTPTR_MAX - UNIT_BYTES, 2 * UNIT_BYTES));
}

static void a_zone_is_made_once(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone();
    assert_true(page_map_extend(start, 1));
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    const char *zone = page_map_zone(start);
    assert_true(page_map_extend(start + 99 * UNIT_BYTES, 1));
    assert_true(page_map_extend(start, ZONE_BYTES));
    assert_ptr_equal(page_map_zone(start + ZONE_BYTES - 1), zone);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
}

static void without_memory_the_map_does_not_grow_but_can_later(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone();
    os_refusal.is_map_refused = true;
    assert_false(page_map_extend(start, UNIT_BYTES));
    assert_null(page_map_reserve_zone());
    assert_int_equal(entry_at(start), 0);
    os_refusal_end();
    assert_true(page_map_extend(start, UNIT_BYTES));
}

static void a_reserved_zone_serves_a_new_range(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone();
    char *zone = page_map_reserve_zone();
    assert_non_null(zone);
    page_map_extend_with(start + 3 * UNIT_BYTES, zone);
    assert_ptr_equal(page_map_zone(start), zone);
    page_map_set(start, 1, 9);
    assert_int_equal(entry_at(start), 9);
}

static void zones_that_nobody_needed_serve_the_next_ranges(void **state)
{
    (void)state;
    uintptr_t start = fresh_zone();
    assert_true(page_map_extend(start, 1));
    char *first = page_map_reserve_zone();
    char *second = page_map_reserve_zone();
    assert_ptr_not_equal(first, second);
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    page_map_extend_with(start, first);
    page_map_extend_with(start, second);
    for (int i = 0; i < 2; i++) {
        uintptr_t other = fresh_zone();
        assert_true(page_map_extend(other, 1));
        assert_ptr_equal(page_map_zone(other), i == 0 ? second : first);
        assert_int_equal(entry_at(other), 0);
    }
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes);
}

static void records_of_whole_chunks_are_forgotten_and_count_again(void **state)
{
    (void)state;
    size_t chunks = max_size(os_page_bytes() / (CHUNK_UNIT_COUNT * UNIT_RECORD_BYTES), 1);
    size_t run_bytes = chunks * CHUNK_BYTES;
    uintptr_t start = fresh_zone() + run_bytes;
    assert_true(page_map_extend(start, 3 * run_bytes));
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    assert_true(page_map_commit_records(start, 3 * run_bytes));
    size_t all_bytes = budget_read(&budget.committed_bytes) - committed_bytes;
    memset(page_map_record(start), 7, UNIT_RECORD_BYTES);
    memset(page_map_record(start + run_bytes), 7, UNIT_RECORD_BYTES);
    // The first and the last run only in part.
    page_map_forget_records(start + UNIT_BYTES, 3 * run_bytes - 2 * UNIT_BYTES);
    assert_true(is_filled_with(page_map_record(start), 7, UNIT_RECORD_BYTES));
    assert_true(is_filled_with(page_map_record(start + run_bytes), 0, UNIT_RECORD_BYTES));
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes + all_bytes / 3 * 2);
    page_map_count_records(start, 3 * run_bytes);
    page_map_count_records(start, 3 * run_bytes);
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes + all_bytes);
}

static uintptr_t shared_start;

static void extend_and_set(void *argument)
{
    size_t unit = *(size_t *)argument;
    for (size_t i = 0; i < SHARED_ZONE_COUNT; i++) {
        uintptr_t address = shared_start + i * ZONE_BYTES + unit * UNIT_BYTES;
        if (page_map_extend(address, 1)) {
            page_map_set(address, 1, (page_entry)(unit + 1));
        }
    }
}

static void threads_that_extend_at_once_get_the_same_zone(void **state)
{
    (void)state;
    size_t units[THREAD_COUNT] = {0, 1, 2, 3};
    shared_start = fresh_zone() + (uintptr_t)ZONE_BYTES * 10000;
    run_in_threads(extend_and_set, units, sizeof units[0], THREAD_COUNT);
    for (size_t i = 0; i < SHARED_ZONE_COUNT; i++) {
        for (size_t unit = 0; unit < THREAD_COUNT; unit++) {
            assert_int_equal(entry_at(shared_start + i * ZONE_BYTES + unit * UNIT_BYTES), unit + 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_never_given_is_foreign),
        cmocka_unit_test(an_address_above_the_map_is_foreign),
        cmocka_unit_test(an_entry_holds_for_its_units_and_no_others),
        cmocka_unit_test(an_entry_gives_its_tag_and_class_back),
        cmocka_unit_test(a_run_over_a_zone_border_is_set_and_cleared_whole),
        cmocka_unit_test(every_unit_has_a_zeroed_record_of_its_own),
        cmocka_unit_test(the_map_reaches_to_its_top_and_not_beyond),
        cmocka_unit_test(a_zone_is_made_once),
        cmocka_unit_test(without_memory_the_map_does_not_grow_but_can_later),
        cmocka_unit_test(a_reserved_zone_serves_a_new_range),
        cmocka_unit_test(zones_that_nobody_needed_serve_the_next_ranges),
        cmocka_unit_test(records_of_whole_chunks_are_forgotten_and_count_again),
        cmocka_unit_test(threads_that_extend_at_once_get_the_same_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
