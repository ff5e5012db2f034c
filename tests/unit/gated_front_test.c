// Run once under each shape: the expectations follow the gates in force.  By itself it tests shape 0.
// SPDX-License-Identifier: MIT
#include "thread/gated_front.h"

#include "bench_profile.h"
#include "front/malloc_tiny_fast.h"
#include "hakmem.h"
#include "unit_hardened.h"
#include "unit_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_COUNT = 40,
    JSON_BYTES = 32 << 10,
    COUNTER_COUNT = sizeof(struct front_counters) / sizeof(size_t),
    UNCOUNTED_ERRNO = 12345,
};

// A copy of the counters that is no atomic.
struct counts {
    size_t lookups, declined, mallocs[BACKEND_COUNT], frees[BACKEND_COUNT];
    size_t malloc_snapshot, malloc_static, free_snapshot, free_static;
};

_Static_assert(sizeof(struct counts) == sizeof(struct front_counters), "a row for each counter");

static bool is_on(unsigned choice)
{
    return choice == FRONT_CHOICE_1;
}

// What has been counted for the calling thread since *before.
static struct counts counted_since(const struct counts *before)
{
    struct counts now;
    memcpy(&now, &thread_heap->gated.counters, sizeof now);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        ((size_t *)&now)[i] -= ((const size_t *)before)[i];
    }
    return now;
}

static struct counts counted(void)
{
    static const struct counts none;
    return counted_since(&none);
}

static size_t sum_of(const size_t kinds[static BACKEND_COUNT])
{
    size_t sum = 0;
    for (size_t i = 0; i < BACKEND_COUNT; i++) {
        sum += kinds[i];
    }
    return sum;
}

static void assert_counts(const struct counts *counts, size_t malloc_count, size_t free_count)
{
    size_t passed_count = sum_of(counts->mallocs);
    assert_int_equal(passed_count + counts->declined, malloc_count);
    assert_int_equal(counts->lookups, is_on(gates.alloc_gate_shape) ? 0 : malloc_count);
    assert_int_equal(counts->malloc_static, is_on(gates.tiny_static_route) ? passed_count : 0);
    assert_int_equal(counts->malloc_snapshot, is_on(gates.tiny_static_route) ? 0 : passed_count);
    assert_int_equal(sum_of(counts->frees), free_count);
    assert_int_equal(counts->free_static, is_on(gates.free_static_route) ? free_count : 0);
    assert_int_equal(counts->free_snapshot, is_on(gates.free_static_route) ? 0 : free_count);
}

static int start(void **state)
{
    (void)state;
    return heap_of_thread()->kind == HEAP_THREAD ? 0 : -1;
}

static void assert_front(const struct heap *heap)
{
    const unsigned choices[] = {gates.alloc_gate_shape, gates.alloc_route_shape,
                                gates.tiny_static_route, gates.free_static_route};
    bool is_gated = false;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        is_gated = is_gated || choices[i] != FRONT_CHOICE_FUSED;
    }
    assert_int_equal(heap->front, is_gated ? FRONT_GATED : FRONT_FUSED);
    assert_int_equal(heap->fast_limit, is_gated ? 0 : TINY_BYTES_MOST + 1);
    assert_int_equal(heap->match_tag, is_gated ? MATCH_NOTHING : heap->slabs.tag);
}

static void note_heap(void *argument)
{
    hak_free(hak_malloc(1));
    *(struct heap **)argument = thread_heap;
}

static void the_front_of_every_thread_is_the_one_that_the_gates_ask_for(void **state)
{
    (void)state;
    struct heap *made = NULL;
    struct heap *adopted = NULL;
    run_in_threads(note_heap, (void *)&made, 0, 1);
    run_in_threads(note_heap, (void *)&adopted, 0, 1);
    assert_front(thread_heap);
    assert_front(made);
    assert_front(adopted);
}

static bool is_declined(class_id cls)
{
    return route_of(cls) == ROUTE_POOL_ONLY;
}

// Are the blocks of the class the thread's own, so that their frees pass its bins?
static bool is_own(class_id cls)
{
    return route_has_bins(cls);
}

static void a_malloc_and_a_free_are_counted_once(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        struct counts before = counted();
        size_t bytes = size_class_bytes((class_id)cls);
        void *blocks[4 * BLOCK_COUNT];
        for (size_t i = 0; i < 4 * BLOCK_COUNT; i += 4) {
            blocks[i] = hak_malloc(bytes - 15);
            blocks[i + 1] = hak_calloc(1, bytes);
            blocks[i + 2] = hak_realloc(NULL, bytes);
            blocks[i + 3] = hak_aligned_alloc(bytes & -bytes, bytes);
        }
        for (size_t i = 0; i < 4 * BLOCK_COUNT; i++) {
            assert_int_equal(hak_usable_size(blocks[i]), bytes);
            hak_free(blocks[i]);
        }
        size_t count = gated_front_is_wanted() ? 4 * BLOCK_COUNT : 0;
        struct counts counts = counted_since(&before);
        assert_counts(&counts, count, is_own((class_id)cls) ? count : 0);
        bool is_passed = !is_declined((class_id)cls);
        assert_int_equal(counts.declined, is_passed ? 0 : count);
        assert_int_equal(counts.mallocs[route_backend((class_id)cls)], is_passed ? count : 0);
    }
}

static void no_byte_counts_as_one(void **state)
{
    (void)state;
    struct counts before = counted();
    hak_free(hak_malloc(0));
    struct counts counts = counted_since(&before);
    size_t count = gated_front_is_wanted();
    assert_counts(&counts, count, is_own(1) ? count : 0);
}

static void blocks_above_the_bands_are_not_counted(void **state)
{
    (void)state;
    struct counts before = counted();
    hak_free(hak_malloc(TINY_BYTES_MOST + 1));
    hak_free(hak_malloc(CLASSED_BYTES_MOST + 1));
    hak_free(NULL);
    struct counts counts = counted_since(&before);
    assert_counts(&counts, 0, 0);
}

// A gate that moves a class to another backend; a static route keeps it where it was.
static void assert_moves(const char *gate, class_id cls, enum backend_id backend)
{
    if (route_backend(cls) != BACKEND_LEGACY) {
        return;  // a backend was chosen from outside
    }
    bool is_frozen = is_on(gates.tiny_static_route);
    enum backend_id before_kind = route_backend(cls);
    hak_thread_flush();  // a block from before the change would be served first
    struct counts before = counted();
    assert_int_equal(hak_ctl_set(gate, "on"), 0);
    enum backend_id taken = is_frozen ? before_kind : backend;
    assert_int_equal(route_backend(cls), taken);
    hak_free(hak_malloc(size_class_bytes(cls)));
    struct counts counts = counted_since(&before);
    enum backend_id given = is_on(gates.free_static_route) ? before_kind : taken;
    size_t count = gated_front_is_wanted() && !is_declined(cls);
    assert_int_equal(sum_of(counts.mallocs), count);
    assert_int_equal(counts.mallocs[taken], count);
    assert_int_equal(sum_of(counts.frees), is_own(cls) ? count : 0);
    assert_int_equal(counts.frees[given], is_own(cls) ? count : 0);
    assert_int_equal(hak_ctl_set(gate, "off"), 0);
    assert_int_equal(route_backend(cls), before_kind);
}

static void a_snapshot_follows_the_routes_and_a_frozen_table_does_not(void **state)
{
    (void)state;
    assert_moves("HAKMEM_TINY_C7_ULTRA_ENABLED", size_class_of_tiny(600), BACKEND_ULTRA);
    assert_moves("HAKMEM_SMALL_HEAP_V7_ENABLED", size_class_of_tiny(300), BACKEND_V7);
    assert_moves("HAKMEM_MID_V3_ENABLED", size_class_of_tiny(300), BACKEND_MID_V3);
}

static void count_in_thread(void *argument)
{
    void *blocks[BLOCK_COUNT];
    // An adopted heap has counted before.
    struct counts before = heap_of_thread() != NULL ? counted() : (struct counts){0};
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(100);
    }
    hak_batch_free(blocks, BLOCK_COUNT);
    *(struct counts *)argument = counted_since(&before);
}

static void count_first_in_thread(void *argument)
{
    // A fresh heap counts from 0, and the first malloc of its thread too.
    void *block = hak_malloc(100);
    *(struct counts *)argument = counted();
    hak_free(block);
}

static void each_thread_counts_its_own(void **state)
{
    (void)state;
    struct worker first;
    struct worker second;
    struct counts counts[2];
    size_t count = gated_front_is_wanted() ? BLOCK_COUNT : 0;
    size_t own_count = is_own(size_class_of_tiny(100)) ? count : 0;
    // The heaps of the tests before are parked; the fourth thread gets a fresh one.
    struct worker others[4];
    for (size_t i = 0; i < 4; i++) {
        worker_start(&others[i]);
        worker_run(&others[i], note_heap, &(struct heap *){NULL});
    }
    worker_start(&first);
    worker_start(&second);
    worker_run(&first, count_in_thread, &counts[0]);
    worker_run(&second, count_first_in_thread, &counts[1]);
    assert_counts(&counts[0], count, own_count);
    assert_counts(&counts[1], count != 0, 0);
    worker_end(&first);
    worker_end(&second);
    for (size_t i = 0; i < 4; i++) {
        worker_end(&others[i]);
    }
}

static void free_block(void *block)
{
    hak_free(block);
}

static void a_double_free_is_found(void **state)
{
    (void)state;
    void *block = hak_malloc(48);
    void *other = hak_malloc(48);
    hak_free(other);
    assert_dies_of("double free", other, 48, free_block, other);
    hak_free(block);
}

static void free_keeps_errno(void **state)
{
    (void)state;
    void *block = hak_malloc(48);
    errno = UNCOUNTED_ERRNO;
    hak_free(block);
    assert_int_equal(errno, UNCOUNTED_ERRNO);
}

static size_t figure(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    assert_non_null(at);
    return strtoul(at + strlen(name), NULL, 10);
}

static void the_statistics_tell_the_counters_of_the_gated_front(void **state)
{
    (void)state;
    static char json[2][JSON_BYTES];
    assert_true(hak_stats_json(json[0], JSON_BYTES) < JSON_BYTES);
    if (!gated_front_is_wanted()) {
        assert_null(strstr(json[0], "gated_front"));
        return;
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(hak_malloc(1024));
    }
    assert_true(hak_stats_json(json[1], JSON_BYTES) < JSON_BYTES);
    static const char *const malloc_names[BACKEND_COUNT] = {
        [BACKEND_LEGACY] = "\"malloc_legacy\":",
        [BACKEND_ULTRA] = "\"malloc_ultra\":",
        [BACKEND_V7] = "\"malloc_v7\":",
        [BACKEND_MID_V3] = "\"malloc_mid_v3\":",
    };
    static const char *const free_names[BACKEND_COUNT] = {
        [BACKEND_LEGACY] = "\"free_legacy\":",
        [BACKEND_ULTRA] = "\"free_ultra\":",
        [BACKEND_V7] = "\"free_v7\":",
        [BACKEND_MID_V3] = "\"free_mid_v3\":",
    };
    enum backend_id backend = route_backend(64);
    const char *name = is_declined(64) ? "\"malloc_declined\":" : malloc_names[backend];
    assert_int_equal(figure(json[1], name) - figure(json[0], name), BLOCK_COUNT);
    name = "\"policy_lookups\":";
    assert_int_equal(figure(json[1], name) - figure(json[0], name),
                     is_on(gates.alloc_gate_shape) ? 0 : BLOCK_COUNT);
    name = free_names[backend];
    assert_int_equal(figure(json[1], name) - figure(json[0], name), is_own(64) ? BLOCK_COUNT : 0);
}

int main(int argc, char **argv)
{
    skip_if_hardened();
    (void)argc;
    if (bench_setenv_default("HAKMEM_ALLOC_GATE_SHAPE", "0")) {
        bench_start_again(argv);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_of_every_thread_is_the_one_that_the_gates_ask_for),
        cmocka_unit_test(a_malloc_and_a_free_are_counted_once),
        cmocka_unit_test(no_byte_counts_as_one),
        cmocka_unit_test(blocks_above_the_bands_are_not_counted),
        cmocka_unit_test(a_snapshot_follows_the_routes_and_a_frozen_table_does_not),
        cmocka_unit_test(each_thread_counts_its_own),
        cmocka_unit_test(a_double_free_is_found),
        cmocka_unit_test(free_keeps_errno),
        cmocka_unit_test(the_statistics_tell_the_counters_of_the_gated_front),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
