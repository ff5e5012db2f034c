// SPDX-License-Identifier: MIT
#include "os/os_thread.h"
#include "unit_check.h"

#include <time.h>

enum {
    THREAD_COUNT = 4,
    ROUND_COUNT = 50000,
    SLEEP_NS = 20000000,
};

// count is plain on purpose: only the lock keeps its increments apart.
static struct {
    struct lock lock;
    size_t count;
    bool is_free_for_other;
    bool is_mine_for_other;
} shared;

static void sleep_shortly(void)
{
    const struct timespec pause = {0, SLEEP_NS};
    (void)nanosleep(&pause, NULL);
}

static void count_up(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUND_COUNT; i++) {
        lock_take(&shared.lock);
        size_t count = shared.count;
        if (i % 1024 == 0) {
            os_thread_yield();
        }
        shared.count = count + 1;
        lock_give(&shared.lock);
    }
}

static void only_one_thread_holds_the_lock(void **state)
{
    (void)state;
    shared.count = 0;
    run_in_threads(count_up, NULL, 0, THREAD_COUNT);
    assert_int_equal(shared.count, THREAD_COUNT * ROUND_COUNT);
    assert_int_equal(atomic_load(&shared.lock.word), 0);
}

static void hold_for_long(void *argument)
{
    (void)argument;
    lock_take(&shared.lock);
    sleep_shortly();
    shared.count++;
    lock_give(&shared.lock);
}

// All but one sleep in the kernel: a lost wake-up makes the test hang.
static void sleepers_are_woken_one_after_the_other(void **state)
{
    (void)state;
    shared.count = 0;
    run_in_threads(hold_for_long, NULL, 0, THREAD_COUNT);
    assert_int_equal(shared.count, THREAD_COUNT);
    assert_int_equal(atomic_load(&shared.lock.word), 0);
}

static void try_from_outside(void *argument)
{
    (void)argument;
    shared.is_free_for_other = lock_try(&shared.lock);
    shared.is_mine_for_other = lock_is_mine(&shared.lock);
}

static void a_held_lock_is_its_holders_alone(void **state)
{
    (void)state;
    assert_false(lock_is_mine(&shared.lock));
    assert_true(lock_try(&shared.lock));
    assert_true(lock_is_mine(&shared.lock));
    assert_false(lock_try(&shared.lock));
    run_in_threads(try_from_outside, NULL, 0, 1);
    assert_false(shared.is_free_for_other);
    assert_false(shared.is_mine_for_other);
    lock_give(&shared.lock);
    assert_false(lock_is_mine(&shared.lock));
    run_in_threads(try_from_outside, NULL, 0, 1);
    assert_true(shared.is_free_for_other);
    shared.lock = (struct lock){0};
}

static void take_twice(void *argument)
{
    lock_take(argument);
    lock_take(argument);
}

static void taking_it_twice_ends_the_process_with_one_line(void **state)
{
    (void)state;
    struct lock lock = {0};
    assert_dies(take_twice, &lock,
                "hakmem: malloc was called by a signal handler or hook while this thread was "
                "inside malloc");
}

static void each_thread_has_its_own_number(void *argument)
{
    *(uintptr_t *)argument = os_thread_self();
}

static void no_two_live_threads_have_the_same_number(void **state)
{
    (void)state;
    uintptr_t number = 0;
    run_in_threads(each_thread_has_its_own_number, &number, 0, 1);
    assert_int_not_equal(number, 0);
    assert_int_not_equal(number, os_thread_self());
    assert_int_equal(os_thread_self(), os_thread_self());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_one_thread_holds_the_lock),
        cmocka_unit_test(sleepers_are_woken_one_after_the_other),
        cmocka_unit_test(a_held_lock_is_its_holders_alone),
        cmocka_unit_test(taking_it_twice_ends_the_process_with_one_line),
        cmocka_unit_test(no_two_live_threads_have_the_same_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
