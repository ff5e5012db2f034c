// SPDX-License-Identifier: MIT
#include "backend/ultra.h"

#include "backend/backend_purge.h"
#include "backend_misuse.h"
#include "budget_check.h"
#include "gates_check.h"
#include "hakmem.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "unit_hardened.h"
#include "unit_worker.h"

#include <string.h>

enum {
    CLASS_512 = 32,
    CLASS_1024 = 64,
    OF_A_UNIT = UNIT_BYTES / 512,
    BLOCK_COUNT = OF_A_UNIT * CHUNK_UNIT_COUNT,
    TAG = 9,
};

static struct slab_owner owner;
static struct lock owner_lock;
static void *blocks[BLOCK_COUNT];

static int start(void **state)
{
    (void)state;
    owner = (struct slab_owner){.lock = &owner_lock};
    owner.tag = page_entry_make(TAG, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)backend_purge(&owner);  // sets emptied_bytes right
    return owner.segments == NULL && owner.taken_bytes == 0 && owner.idle_bytes == 0 ? 0 : -1;
}

static uintptr_t chunk_of(const void *block)
{
    return (uintptr_t)block / CHUNK_BYTES;
}

static uintptr_t unit_number(const void *block)
{
    return (uintptr_t)block / UNIT_BYTES;
}

static void take(class_id cls, size_t first, size_t count)
{
    while (count != 0) {
        size_t taken = ultra_refill(&owner, cls, blocks + first, count);
        assert_true(taken != 0);
        first += taken;
        count -= taken;
    }
}

static void give(size_t first, size_t count)
{
    backend_flush(&owner, blocks + first, count);
}

static void classes_share_a_segment_and_no_unit(void **state)
{
    (void)state;
    take(CLASS_512, 0, 2);
    take(CLASS_1024, 2, 2);
    take(17, 4, 1);
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(chunk_of(blocks[i]), chunk_of(blocks[0]));
    }
    assert_int_equal(unit_number(blocks[1]), unit_number(blocks[0]));
    assert_int_not_equal(unit_number(blocks[2]), unit_number(blocks[0]));
    assert_int_not_equal(unit_number(blocks[4]), unit_number(blocks[2]));
    assert_int_equal(page_map_lookup(blocks[0]), owner.tag | CLASS_512);
    assert_int_equal(page_map_lookup(blocks[2]), owner.tag | CLASS_1024);
    assert_int_equal(owner.idle_bytes, (CHUNK_UNIT_COUNT - 3) * (size_t)UNIT_BYTES);
    give(0, 5);
}

static void a_segment_is_filled_before_the_next_is_taken(void **state)
{
    (void)state;
    take(CLASS_512, 0, BLOCK_COUNT);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_int_equal(chunk_of(blocks[i]), chunk_of(blocks[0]));
        assert_int_equal((uintptr_t)blocks[i] % 512, 0);
        assert_true(i % OF_A_UNIT == 0 || (char *)blocks[i] - (char *)blocks[i - 1] == 512);
    }
    void *more = NULL;
    assert_int_equal(ultra_refill(&owner, CLASS_512, &more, 1), 1);
    assert_int_not_equal(chunk_of(more), chunk_of(blocks[0]));
    backend_flush(&owner, &more, 1);
    give(0, BLOCK_COUNT);
}

static void an_empty_unit_serves_another_class(void **state)
{
    (void)state;
    take(CLASS_512, 0, 2 * OF_A_UNIT);
    void *first = blocks[0];
    give(0, OF_A_UNIT);
    assert_int_equal(page_map_lookup(first), 0);
    take(CLASS_1024, 0, 1);
    assert_int_equal(unit_number(blocks[0]), unit_number(first));
    assert_int_equal(page_map_lookup(blocks[0]), owner.tag | CLASS_1024);
    give(0, 1);
    give(OF_A_UNIT, OF_A_UNIT);
}

static void the_segment_goes_with_its_last_block(void **state)
{
    (void)state;
    size_t dirty_bytes = page_heap_dirty_bytes();
    take(CLASS_512, 0, 1);
    struct span *segment = owner.segments;
    assert_non_null(segment);
    give(0, 1);
    assert_null(owner.segments);
    assert_int_equal(segment->state, SPAN_FREE);
    assert_true(page_heap_dirty_bytes() >= dirty_bytes);
}

static void idle_units_are_purged_and_come_back(void **state)
{
    (void)state;
    take(CLASS_512, 0, BLOCK_COUNT);
    size_t committed_bytes = committed_page_bytes();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        memset(blocks[i], (int)(i / OF_A_UNIT), 512);
    }
    // All but the first block of each second unit.
    for (size_t unit = 0; unit < CHUNK_UNIT_COUNT; unit++) {
        size_t kept = unit % 2;
        give(unit * OF_A_UNIT + kept, OF_A_UNIT - kept);
    }
    size_t idle_bytes = CHUNK_UNIT_COUNT / 2 * (size_t)UNIT_BYTES;
    assert_int_equal(owner.idle_bytes, idle_bytes);
    assert_int_equal(owner.emptied_bytes, idle_bytes);
    assert_int_equal(backend_purge(&owner), idle_bytes);
    assert_int_equal(owner.idle_bytes, 0);
    assert_int_equal(committed_page_bytes(), committed_bytes - idle_bytes);
    assert_int_equal(backend_purge(&owner), 0);
    for (size_t unit = 1; unit < CHUNK_UNIT_COUNT; unit += 2) {
        assert_true(is_filled_with(blocks[unit * OF_A_UNIT], (unsigned char)unit, 512));
    }
    // A purged unit counts again.
    take(CLASS_1024, 0, 1);
    assert_int_equal(committed_page_bytes(), committed_bytes - idle_bytes + UNIT_BYTES);
    assert_true(is_filled_with(blocks[0], 0, 1024));
    give(0, 1);
    for (size_t unit = 1; unit < CHUNK_UNIT_COUNT; unit += 2) {
        give(unit * OF_A_UNIT, 1);
    }
    assert_int_equal(committed_page_bytes(), committed_bytes);  // all dirty now
}

static void flushes_go_on_while_units_are_purged(void **state)
{
    (void)state;
    take(CLASS_512, 0, 2 * OF_A_UNIT);
    give(0, OF_A_UNIT);
    owner.is_purging = true;
    assert_true(ultra_purge.find(&owner) > 0);
    ultra_purge.begin(&owner);
    give(OF_A_UNIT, OF_A_UNIT);  // the last one: the segment must stay
    assert_null(owner.segments);
    assert_non_null(owner.purged_segments);
    take(CLASS_512, 0, 1);  // from another segment
    assert_non_null(owner.segments);
    ultra_purge.purge(&owner);
    (void)ultra_purge.finish(&owner);
    owner.is_purging = false;
    assert_null(owner.purged_segments);
    give(0, 1);
}

static void where_the_limit_forbids_a_segment_slabs_serve(void **state)
{
    (void)state;
    (void)page_heap_purge(0);
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes) + 4 * UNIT_BYTES);
    take(CLASS_512, 0, OF_A_UNIT);
    assert_null(owner.segments);
    assert_int_equal(span_of((uintptr_t)blocks[0])->backend, BACKEND_LEGACY);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    // Blocks of both, given back together.
    take(CLASS_512, OF_A_UNIT, OF_A_UNIT);
    assert_int_equal(span_of((uintptr_t)blocks[OF_A_UNIT])->backend, BACKEND_ULTRA);
    void *mixed[2 * OF_A_UNIT];
    for (size_t i = 0; i < 2 * OF_A_UNIT; i++) {
        mixed[i] = blocks[i / 2 + i % 2 * OF_A_UNIT];
    }
    backend_flush(&owner, mixed, 2 * OF_A_UNIT);
}

// The records of a slab's later units still say what was there before.
static void a_slab_where_a_segment_was_is_flushed_as_a_slab(void **state)
{
    (void)state;
    enum {
        CLASS_64K = 88  // eight blocks in a slab of eight units
    };
    void *mixed[2];
    (void)page_heap_purge(0);
    take(CLASS_512, 0, BLOCK_COUNT);
    uintptr_t chunk = chunk_of(blocks[0]);
    give(0, BLOCK_COUNT);
    assert_int_equal(size_class_bytes(CLASS_64K), UNIT_BYTES);
    assert_int_equal(backend_refill(BACKEND_POOL, &owner, CLASS_64K, blocks, 8), 8);
    assert_int_equal(chunk_of(blocks[1]), chunk);
    assert_int_equal(span_of_unit((uintptr_t)blocks[1])->backend, BACKEND_ULTRA);
    assert_int_equal(ultra_refill(&owner, CLASS_512, mixed, 1), 1);
    mixed[1] = blocks[1];
    backend_flush(&owner, mixed, 2);
    give(0, 1);
    give(2, 6);
}

static void misuse_is_named(void **state)
{
    (void)state;
    const void *last = assert_misuse_is_named(BACKEND_ULTRA, &owner);
    assert_int_equal(page_map_lookup(last), 0);
}

// ---- Through malloc and free ----------------------------------------------------------------------

static struct worker worker;

static struct {
    struct heap *heap;
    void *blocks[BLOCK_COUNT];
} shared;

static int start_on(void **state)
{
    (void)state;
    worker_start(&worker);
    return hak_ctl_set("HAKMEM_TINY_C6_ULTRA_ENABLED", "on") +
           hak_ctl_set("HAKMEM_TINY_C7_ULTRA_ENABLED", "on");
}

static int end_on(void **state)
{
    (void)state;
    worker_end(&worker);
    hak_thread_flush();
    return hak_ctl_set("HAKMEM_TINY_C6_ULTRA_ENABLED", "off") +
           hak_ctl_set("HAKMEM_TINY_C7_ULTRA_ENABLED", "off");
}

static void take_all(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        shared.blocks[i] = hak_malloc(500);
        memset(shared.blocks[i], (int)i, 500);
    }
    shared.heap = thread_heap;
}

static void give_all(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(shared.blocks[i]);
    }
}

static bool are_whole(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (!is_filled_with(shared.blocks[i], (unsigned char)i, 500)) {
            return false;
        }
    }
    return true;
}

static void a_thread_frees_into_its_bins(void **state)
{
    (void)state;
    if (!class_has_bin(CLASS_512)) {
        skip();
    }
    void *block = hak_malloc(512);
    assert_int_equal(span_of((uintptr_t)block)->backend, BACKEND_ULTRA);
    hak_free(block);
    assert_ptr_equal(thread_heap->bins.head[CLASS_512], block);
}

static void another_thread_frees_them_to_their_heap(void **state)
{
    (void)state;
    worker_run(&worker, take_all, NULL);
    assert_true(are_whole());
    give_all(NULL);
    hak_thread_flush();
    worker_end(&worker);
    assert_int_equal(shared.heap->slabs.taken_bytes, 0);
    assert_null(shared.heap->slabs.segments);
    worker_start(&worker);
}

static void they_outlive_their_thread_and_are_adopted(void **state)
{
    (void)state;
    worker_run(&worker, take_all, NULL);
    struct heap *heap = shared.heap;
    worker_end(&worker);
    assert_true(atomic_load(&heap->is_parked));
    assert_true(are_whole());
    worker_start(&worker);
    worker_run(&worker, give_all, NULL);
    worker_end(&worker);
    assert_int_equal(heap->slabs.taken_bytes, 0);
    assert_null(heap->slabs.segments);
    worker_start(&worker);
}

static void they_stay_valid_when_the_route_changes(void **state)
{
    (void)state;
    worker_run(&worker, take_all, NULL);
    assert_int_equal(hak_ctl_set("HAKMEM_TINY_C6_ULTRA_ENABLED", "off"), 0);
    assert_true(are_whole());
    worker_run(&worker, give_all, NULL);
    worker_run(&worker, take_all, NULL);
    assert_int_equal(hak_ctl_set("HAKMEM_TINY_C6_ULTRA_ENABLED", "on"), 0);
    worker_run(&worker, give_all, NULL);
    worker_end(&worker);
    assert_int_equal(shared.heap->slabs.taken_bytes, 0);
    worker_start(&worker);
}

#define UNIT_TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
#define HEAP_TEST(name) cmocka_unit_test_setup_teardown(name, start_on, end_on)

int main(void)
{
    skip_if_hardened();
    if (gates.tiny_static_route == FRONT_CHOICE_1) {
        return skip_program("HAKMEM_TINY_STATIC_ROUTE=1, the routes stay as they were at start");
    }
    (void)hak_limit_set(0);  // the tests set limits of their own
    const struct CMUnitTest tests[] = {
        UNIT_TEST(classes_share_a_segment_and_no_unit),
        UNIT_TEST(a_segment_is_filled_before_the_next_is_taken),
        UNIT_TEST(an_empty_unit_serves_another_class),
        UNIT_TEST(the_segment_goes_with_its_last_block),
        UNIT_TEST(idle_units_are_purged_and_come_back),
        UNIT_TEST(flushes_go_on_while_units_are_purged),
        UNIT_TEST(where_the_limit_forbids_a_segment_slabs_serve),
        UNIT_TEST(a_slab_where_a_segment_was_is_flushed_as_a_slab),
        UNIT_TEST(misuse_is_named),
        HEAP_TEST(a_thread_frees_into_its_bins),
        HEAP_TEST(another_thread_frees_them_to_their_heap),
        HEAP_TEST(they_outlive_their_thread_and_are_adopted),
        HEAP_TEST(they_stay_valid_when_the_route_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
