// SPDX-License-Identifier: MIT
#include "os/os_memory.h"
#include "region/record_pool.h"
#include "stats/budget.h"
#include "unit_check.h"

#include <string.h>

enum {
    RECORD_COUNT = 3000,
    RECORD_BYTES_MOST = 1000,
    THREAD_COUNT = 4,
};

static size_t bytes_of(size_t index)
{
    return index * 37 % RECORD_BYTES_MOST + 1;
}

static void records_are_aligned_zeroed_and_apart(void **state)
{
    (void)state;
    static unsigned char *records[RECORD_COUNT];
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        records[i] = record_take(bytes_of(i));
        assert_non_null(records[i]);
        assert_int_equal((uintptr_t)records[i] % 64, 0);
        assert_true(is_filled_with(records[i], 0, bytes_of(i)));
        memset(records[i], (int)(i % 255) + 1, bytes_of(i));
    }
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        assert_true(is_filled_with(records[i], (unsigned char)(i % 255 + 1), bytes_of(i)));
    }
}

static void a_record_may_be_longer_than_any_chunk(void **state)
{
    (void)state;
    enum {
        BYTES = 9 << 20
    };
    char *record = record_take(BYTES);
    assert_non_null(record);
    record[0] = 1;
    record[BYTES - 1] = 1;
    char *small = record_take(1);
    assert_non_null(small);
    assert_true(small >= record + BYTES || small < record);
}

static void a_mapping_of_records_stands_between_guards(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    size_t mapped_bytes = budget_read(&budget.mapped_bytes);
    char *memory = record_map(page_bytes + 1);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % page_bytes, 0);
    assert_true(is_filled_with(memory, 0, 2 * page_bytes));
    memory[0] = 1;
    memory[2 * page_bytes - 1] = 1;
    assert_faults(memory - 1);
    assert_faults(memory - page_bytes);
    assert_faults(memory + 2 * page_bytes);
    assert_int_equal(budget_read(&budget.mapped_bytes), mapped_bytes + 4 * page_bytes);
}

static void records_count_as_committed_and_a_mapping_does_not(void **state)
{
    (void)state;
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    size_t record_bytes = budget_read(&budget.record_bytes);
    assert_non_null(record_take(100));
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes + 128);
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes + 128);
    assert_non_null(record_map(1));
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes + 128);
}

static void no_record_is_taken_over_the_limit(void **state)
{
    (void)state;
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    size_t record_bytes = budget_read(&budget.record_bytes);
    budget_add(&budget.limit_bytes, committed_bytes + 128);
    assert_null(record_take(129));
    assert_non_null(record_take(128));
    assert_null(record_take(1));
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes + 128);
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes + 128);
    budget_subtract(&budget.limit_bytes, committed_bytes + 128);
    assert_non_null(record_take(1));
}

static void fill_records(void *argument)
{
    unsigned char value = *(unsigned char *)argument;
    static _Thread_local unsigned char *records[RECORD_COUNT];
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        records[i] = record_take(bytes_of(i));
        memset(records[i], value, bytes_of(i));
    }
    size_t damaged_count = 0;
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        damaged_count += !is_filled_with(records[i], value, bytes_of(i));
    }
    *(unsigned char *)argument = damaged_count == 0 ? 0 : 1;
}

static void threads_get_records_of_their_own(void **state)
{
    (void)state;
    unsigned char values[THREAD_COUNT] = {11, 12, 13, 14};
    run_in_threads(fill_records, values, 1, THREAD_COUNT);
    assert_true(is_filled_with(values, 0, sizeof values));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_aligned_zeroed_and_apart),
        cmocka_unit_test(a_record_may_be_longer_than_any_chunk),
        cmocka_unit_test(a_mapping_of_records_stands_between_guards),
        cmocka_unit_test(records_count_as_committed_and_a_mapping_does_not),
        cmocka_unit_test(no_record_is_taken_over_the_limit),
        cmocka_unit_test(threads_get_records_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
