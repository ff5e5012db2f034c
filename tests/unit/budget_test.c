// SPDX-License-Identifier: MIT
#include "stats/budget.h"
#include "unit_check.h"

#include <string.h>

static int start_anew(void **state)
{
    (void)state;
    memset(&budget, 0, sizeof budget);
    return 0;
}

static void without_a_limit_everything_is_granted(void **state)
{
    (void)state;
    assert_true(budget_commit(SIZE_MAX / 4));
    assert_true(budget_commit(SIZE_MAX / 4));
    assert_int_equal(budget_read(&budget.committed_bytes), SIZE_MAX / 4 * 2);
}

static void commits_are_granted_up_to_the_limit_and_not_a_byte_above(void **state)
{
    (void)state;
    budget_add(&budget.limit_bytes, 1000);
    assert_true(budget_commit(600));
    assert_false(budget_commit(401));
    assert_int_equal(budget_read(&budget.committed_bytes), 600);
    assert_true(budget_commit(400));
    assert_false(budget_commit(1));
    assert_true(budget_commit(0));
    assert_int_equal(budget_read(&budget.committed_bytes), 1000);
}

static void a_commit_above_the_whole_limit_does_not_wrap_around(void **state)
{
    (void)state;
    budget_add(&budget.limit_bytes, 1000);
    assert_true(budget_commit(10));
    assert_false(budget_commit(SIZE_MAX));
    assert_false(budget_commit(SIZE_MAX - 10));
    assert_int_equal(budget_read(&budget.committed_bytes), 10);
}

static void above_a_lowered_limit_nothing_is_granted(void **state)
{
    (void)state;
    assert_true(budget_commit(5000));
    budget_add(&budget.limit_bytes, 1000);
    assert_false(budget_commit(1));
    budget_commit_anyway(7);
    assert_int_equal(budget_read(&budget.committed_bytes), 5007);
}

static void the_peak_is_the_most_that_was_ever_committed(void **state)
{
    (void)state;
    assert_true(budget_commit(300));
    budget_uncommit(200);
    assert_true(budget_commit(150));
    assert_int_equal(budget_peak(), 300);
    budget_commit_anyway(100);
    assert_int_equal(budget_peak(), 350);
}

static void a_refused_commit_leaves_the_peak_alone(void **state)
{
    (void)state;
    budget_add(&budget.limit_bytes, 100);
    assert_true(budget_commit(40));
    assert_false(budget_commit(90));
    assert_int_equal(budget_peak(), 40);
}

static void what_is_given_back_is_counted_each_time(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(budget_commit(100));
        budget_uncommit(100);
    }
    assert_int_equal(budget_read(&budget.committed_bytes), 0);
    assert_int_equal(budget_read(&budget.purged_bytes), 300);
}

enum {
    STEP_BYTES = 7,
    STEP_COUNT = 20000,
    LIMIT_BYTES = 3 * STEP_BYTES,
};

static void commit_and_take_back(void *argument)
{
    (void)argument;
    for (int i = 0; i < STEP_COUNT; i++) {
        if (budget_commit(STEP_BYTES)) {
            budget_uncommit(STEP_BYTES);
        }
    }
}

static void threads_together_stay_below_the_limit(void **state)
{
    (void)state;
    budget_add(&budget.limit_bytes, LIMIT_BYTES);
    run_in_threads(commit_and_take_back, NULL, 0, 4);
    assert_int_equal(budget_read(&budget.committed_bytes), 0);
    assert_true(budget_peak() <= LIMIT_BYTES);
    assert_true(budget_peak() >= STEP_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_limit_everything_is_granted, start_anew),
        cmocka_unit_test_setup(commits_are_granted_up_to_the_limit_and_not_a_byte_above,
                               start_anew),
        cmocka_unit_test_setup(a_commit_above_the_whole_limit_does_not_wrap_around, start_anew),
        cmocka_unit_test_setup(above_a_lowered_limit_nothing_is_granted, start_anew),
        cmocka_unit_test_setup(the_peak_is_the_most_that_was_ever_committed, start_anew),
        cmocka_unit_test_setup(a_refused_commit_leaves_the_peak_alone, start_anew),
        cmocka_unit_test_setup(what_is_given_back_is_counted_each_time, start_anew),
        cmocka_unit_test_setup(threads_together_stay_below_the_limit, start_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
