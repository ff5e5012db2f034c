// The learner's decisions, on epochs that the test makes up: it sets the clock back and the time that slow
// paths took, and lets the learner look.
// SPDX-License-Identifier: MIT
#include "thread/learner.h"

#include "hakmem.h"
#include "stats/budget.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/process.h"
#include "unit_hardened.h"
#include "unit_worker.h"

#include <string.h>

enum {
    EPOCH_MS =
        100000,  // so long that what passes meanwhile is nothing beside it, also on a busy machine
    BLOCK_BYTES = 512,
    THREAD_COUNT = 48,
    WAVE_BLOCKS = 600,
    JSON_BYTES = 64 << 10,
};

static struct heap *heap;
static class_id cls;

static void look_after(unsigned slow_percent, unsigned lane_percent)
{
    uint64_t epoch = EPOCH_MS * os_ticks_per_ms();
    heap->learner.epoch_start = os_ticks() - epoch;
    heap->learner.wall_start = os_clock_ns(CLOCK_MONOTONIC) - EPOCH_MS * 1000000ull;
    heap->learner.cpu_start = os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - EPOCH_MS * 1000000ull;
    heap->learner.lane_ticks = epoch / 100 * lane_percent;
    heap->learner.slow_ticks = epoch / 100 * slow_percent + heap->learner.lane_ticks;
    learner_look(heap, cls);
}

// Each trial takes an epoch to begin, one to settle and one to be judged by.
static void try_from_to(unsigned percent_before, unsigned percent_after)
{
    look_after(percent_before, 0);
    look_after(percent_before, 0);
    look_after(percent_after, 0);
}

static int start_anew(void **state)
{
    (void)state;
    gates.learner = true;
    heap = heap_of_thread();
    heap_flush(heap);
    learner_forget(heap);
    cls = size_class_of_tiny(BLOCK_BYTES);
    return heap->bin_scale == 0 ? 0 : -1;
}

static bool statistics_say(const char *sentence)
{
    static char json[JSON_BYTES];
    assert_true(hak_stats_json(json, sizeof json) < sizeof json);
    return strstr(json, sentence) != NULL;
}

static void longer_bins_are_kept_where_they_save_a_quarter_of_the_time(void **state)
{
    (void)state;
    look_after(20, 0);
    assert_int_equal(heap->bin_scale, 1);
    look_after(1, 0);  // the bins fill: not looked at
    look_after(14, 0);
    assert_int_equal(heap->bin_scale, 1);
    // An emulator is so slow that the epochs grow by its own time: 19.9.
    assert_true(
        statistics_say("bins may hold 2 times what the gates say, not 1: refills and flushes "
                       "took 20.0") ||
        is_emulated());
    try_from_to(14, 5);
    assert_int_equal(heap->bin_scale, 2);
    try_from_to(5, 5);
    assert_int_equal(heap->bin_scale, 2);  // there is a most
}

static void longer_bins_are_taken_back_where_they_save_less(void **state)
{
    (void)state;
    try_from_to(20, 17);
    assert_int_equal(heap->bin_scale, 0);
    assert_true(statistics_say("% of the thread's time, then 17.0"));
    assert_true(statistics_say("taken back"));
}

// How many epochs pass until the next trial begins.
static unsigned epochs_until_a_trial(unsigned slow_percent)
{
    unsigned count = 0;
    while (heap->learner.step == LEARNER_WATCHING && count < 10000) {
        look_after(slow_percent, 0);
        count++;
    }
    return count;
}

static void what_came_to_nothing_is_tried_again_after_a_time_that_doubles(void **state)
{
    (void)state;
    try_from_to(20, 20);
    unsigned first = epochs_until_a_trial(20);
    assert_true(first > 1);
    look_after(20, 0);
    look_after(20, 0);
    assert_int_equal(heap->learner.step, LEARNER_WATCHING);
    assert_int_equal(epochs_until_a_trial(20) - 1, 2 * (first - 1));
}

static void another_phase_is_not_kept_waiting(void **state)
{
    (void)state;
    try_from_to(20, 20);
    try_from_to(20, 20);
    look_after(50, 0);
    assert_int_equal(heap->learner.step, LEARNER_SETTLING);
}

static void little_slow_time_is_no_reason_for_longer_bins(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        look_after(1, 0);
    }
    assert_int_equal(heap->bin_scale, 0);
}

static void bins_that_are_no_longer_needed_shrink_again(void **state)
{
    (void)state;
    try_from_to(20, 1);
    assert_int_equal(heap->bin_scale, 1);
    try_from_to(0, 0);
    assert_int_equal(heap->bin_scale, 0);
}

static void bins_whose_shrinking_costs_time_grow_back(void **state)
{
    (void)state;
    try_from_to(20, 1);
    try_from_to(0, 9);
    assert_int_equal(heap->bin_scale, 1);
}

static void make_waves(size_t bytes)
{
    static void *blocks[WAVE_BLOCKS];
    for (int wave = 0; wave < 20; wave++) {
        for (size_t i = 0; i < WAVE_BLOCKS; i++) {
            blocks[i] = hak_malloc(bytes);
            assert_non_null(blocks[i]);
        }
        for (size_t i = 0; i < WAVE_BLOCKS; i++) {
            hak_free(blocks[i]);
        }
    }
}

static void the_bounds_of_the_bins_follow(void **state)
{
    (void)state;
    if (!route_has_bins(cls) || gates.bin_bytes < 16 << 10) {
        skip();
    }
    gates.learner = false;  // the test alone sets the scale
    make_waves(BLOCK_BYTES);
    uint32_t usual = heap->bins.limit[cls];
    bin_set_scale(heap, 2);
    make_waves(BLOCK_BYTES);
    assert_true(heap->bins.limit[cls] > usual && heap->bins.limit[cls] <= 4 * usual + 4);
    bin_set_scale(heap, 0);
    assert_true(heap->bins.limit[cls] <= usual);
    for (size_t bytes = 16; bytes <= 1024; bytes += 16) {
        make_waves(bytes);
    }
    assert_true(heap->bin_bytes <= gates.heap_bin_bytes);
    assert_int_equal(budget_read(&budget.bin_bytes), heap->bin_bytes);
}

static void a_static_route_freezes_it(void **state)
{
    (void)state;
    unsigned former = gates.tiny_static_route;
    gates.tiny_static_route = FRONT_CHOICE_1;
    try_from_to(50, 1);
    gates.tiny_static_route = former;
    assert_int_equal(heap->bin_scale, 0);
    assert_int_equal(heap->learner.step, LEARNER_WATCHING);
}

// ---- Lanes

struct holder {
    struct worker worker;
    void *block;
};

static struct holder holders[THREAD_COUNT];

static void take_a_block(void *argument)
{
    *(void **)argument = hak_malloc(BLOCK_BYTES);
}

static void give_the_block(void *argument)
{
    hak_free(*(void **)argument);
}

static void start_holders(void)
{
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        worker_start(&holders[i].worker);
        worker_run(&holders[i].worker, take_a_block, &holders[i].block);
        assert_non_null(holders[i].block);
    }
}

static void end_holders(void)
{
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        worker_run(&holders[i].worker, give_the_block, &holders[i].block);
        worker_end(&holders[i].worker);
    }
}

// The test's own routes, whatever the settings say.
static bool has_own_slabs(void)
{
    return route_backend(cls) == BACKEND_LEGACY && route_of(cls) != ROUTE_POOL_ONLY &&
           gates.tiny_static_route != FRONT_CHOICE_1;
}

static void look_until(enum backend_id backend)
{
    for (int i = 0; i < 10000 && route_backend(cls) != backend; i++) {
        look_after(0, 0);
        os_thread_yield();
    }
}

static void many_threads_that_keep_more_free_than_live_share_lanes(void **state)
{
    (void)state;
    if (!has_own_slabs()) {
        skip();
    }
    start_holders();
    assert_int_equal(route_backend(cls), BACKEND_MID_V3);  // one of them has seen it at its refill
    assert_true(statistics_say("blocks of 512 bytes come from lanes: "));
    void *block = hak_malloc(BLOCK_BYTES);
    hak_free(block);

    // Who spends much time there has its own slabs again, and for a while.
    look_after(0, 50);
    assert_int_equal(route_backend(cls), BACKEND_LEGACY);
    assert_true(statistics_say("no more blocks come from lanes: they took "));
    look_after(0, 0);
    assert_int_equal(route_backend(cls), BACKEND_LEGACY);
    end_holders();
}

static void few_threads_leave_the_lanes(void **state)
{
    (void)state;
    if (!has_own_slabs()) {
        skip();
    }
    cls = size_class_of_tiny(BLOCK_BYTES / 2);
    process_settings_lock();
    route_table.is_in_lanes[cls] = true;
    route_table_follow_gates();
    process_settings_unlock();
    assert_int_equal(route_backend(cls), BACKEND_MID_V3);
    look_until(BACKEND_LEGACY);
    assert_int_equal(route_backend(cls), BACKEND_LEGACY);
    assert_true(statistics_say("threads are left"));
}

static void read_scale(void *argument)
{
    hak_free(hak_malloc(1));
    *(unsigned *)argument = heap_of_thread()->bin_scale;
}

static void set_scale(void *unused)
{
    (void)unused;
    bin_set_scale(heap_of_thread(), 2);
}

static void a_thread_does_not_inherit_what_another_learned(void **state)
{
    (void)state;
    unsigned scale = 99;
    run_in_threads(set_scale, NULL, 0, 1);
    run_in_threads(read_scale, &scale, 0, 1);  // in the same heap
    assert_int_equal(scale, 0);
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(longer_bins_are_kept_where_they_save_a_quarter_of_the_time,
                               start_anew),
        cmocka_unit_test_setup(longer_bins_are_taken_back_where_they_save_less, start_anew),
        cmocka_unit_test_setup(what_came_to_nothing_is_tried_again_after_a_time_that_doubles,
                               start_anew),
        cmocka_unit_test_setup(another_phase_is_not_kept_waiting, start_anew),
        cmocka_unit_test_setup(little_slow_time_is_no_reason_for_longer_bins, start_anew),
        cmocka_unit_test_setup(bins_that_are_no_longer_needed_shrink_again, start_anew),
        cmocka_unit_test_setup(bins_whose_shrinking_costs_time_grow_back, start_anew),
        cmocka_unit_test_setup(the_bounds_of_the_bins_follow, start_anew),
        cmocka_unit_test_setup(a_static_route_freezes_it, start_anew),
        cmocka_unit_test_setup(many_threads_that_keep_more_free_than_live_share_lanes, start_anew),
        cmocka_unit_test_setup(few_threads_leave_the_lanes, start_anew),
        cmocka_unit_test_setup(a_thread_does_not_inherit_what_another_learned, start_anew),
    };
    // Under a static route only that it learns nothing can be tested.
    (void)heap_of_thread();
    bool is_frozen = gates.tiny_static_route == FRONT_CHOICE_1;
    if (is_frozen) {
        cmocka_set_test_filter("a_static_route_freezes_it");
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
