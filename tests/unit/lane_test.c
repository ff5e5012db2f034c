// The backend MID_V3.  All of a test runs on one processor, so that it is one lane that serves it.
// SPDX-License-Identifier: MIT
#include "thread/lane.h"

#include "hakmem.h"
#include "policy/gates.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/remote_free.h"
#include "unit_hardened.h"
#include "unit_worker.h"

#include <sched.h>
#include <string.h>

enum {
    CLASS_48 = 3,
    CLASS_512 = 32,
    BLOCK_COUNT = 3000,
    OTHER_COUNT = 200,
};

static struct worker worker;
static void *blocks[BLOCK_COUNT];

static struct {
    void *blocks[BLOCK_COUNT];
    size_t count;
    size_t bytes;
} shared;

static void set_lanes(bool is_on)
{
    assert_int_equal(hak_ctl_set("HAKMEM_MID_V3_CLASSES", "0xff"), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_MID_V3_ENABLED", is_on ? "on" : "off"), 0);
}

static int start(void **state)
{
    (void)state;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        return -1;
    }
    set_lanes(true);
    (void)heap_of_thread();
    worker_start(&worker);
    return 0;
}

static int end(void **state)
{
    (void)state;
    worker_end(&worker);
    hak_thread_flush();
    return 0;
}

static void take(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < shared.count; i++) {
        shared.blocks[i] = hak_malloc(shared.bytes);
    }
}

static void give(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < shared.count; i++) {
        hak_free(shared.blocks[i]);
    }
}

static struct heap *owner_of(const void *block)
{
    return heap_registry_lookup(page_entry_tag(page_map_lookup(block)));
}

static struct hak_stats read_stats(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats;
}

static void threads_share_the_slabs_of_a_lane(void **state)
{
    (void)state;
    shared.count = 1;
    shared.bytes = 512;
    worker_run(&worker, take, NULL);
    void *mine = hak_malloc(512);
    assert_int_equal(owner_of(mine)->kind, HEAP_LANE);
    assert_ptr_equal(slab_of(mine), slab_of(shared.blocks[0]));
    hak_free(mine);
    worker_run(&worker, give, NULL);
}

static void no_block_of_a_lane_is_in_a_bin(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        for (size_t i = 0; i < OTHER_COUNT; i++) {
            blocks[i] = hak_malloc(size_class_bytes((class_id)cls));
        }
        for (size_t i = 0; i < OTHER_COUNT; i++) {
            hak_free(blocks[i]);
        }
        assert_int_equal(thread_heap->bins.limit[cls], 0);
        assert_null(thread_heap->bins.head[cls]);
        size_t held_bytes = read_stats().bin_bytes + read_stats().transit_bytes;
        assert_true(held_bytes <= 8192 || cls > 1);
        hak_thread_flush();
        assert_int_equal(read_stats().bin_bytes + read_stats().transit_bytes, 0);
    }
}

static void what_is_freed_comes_back_first(void **state)
{
    (void)state;
    void *first = hak_malloc(512);
    hak_free(first);
    assert_ptr_equal(hak_malloc(512), first);
    hak_free(first);
}

static void a_flush_gives_everything_to_the_lane(void **state)
{
    (void)state;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(48);
    }
    struct heap *lane = owner_of(blocks[0]);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_ptr_equal(owner_of(blocks[i]), lane);
        hak_free(blocks[i]);
    }
    hak_thread_flush();
    assert_int_equal(lane->slabs.classes[CLASS_48].slab_count, 0);
    assert_int_equal(lane->slabs.taken_bytes, 0);
}

static void a_lane_has_no_mail(void **state)
{
    (void)state;
    shared.count = BLOCK_COUNT;
    shared.bytes = 48;
    worker_run(&worker, take, NULL);
    struct heap *lane = owner_of(shared.blocks[0]);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(shared.blocks[i]);
        assert_false(remote_free_has_mail(lane));
        assert_true(atomic_load(&thread_heap->outbox_bytes) <= 2 << 10);
    }
}

static void what_is_live_is_counted_to_the_block(void **state)
{
    (void)state;
    size_t before = read_stats().live_blocks;
    shared.count = OTHER_COUNT;
    shared.bytes = 400;
    worker_run(&worker, take, NULL);
    assert_int_equal(read_stats().live_blocks, before + OTHER_COUNT);
    size_t heap_count = read_stats().heap_count;
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        hak_free(shared.blocks[i]);
        assert_int_equal(read_stats().live_blocks, before + OTHER_COUNT - 1 - i);
    }
    assert_int_equal(read_stats().heap_count, heap_count);
    assert_true(heap_count <= 2);  // lanes are none of a program's
}

static void a_thread_that_ends_leaves_its_stock_to_the_lane(void **state)
{
    (void)state;
    shared.count = OTHER_COUNT;
    shared.bytes = 200;
    worker_run(&worker, take, NULL);
    struct heap *lane = owner_of(shared.blocks[0]);
    worker_run(&worker, give, NULL);
    worker_end(&worker);
    assert_int_equal(lane->slabs.taken_bytes, 0);
    worker_start(&worker);
}

// Blocks of both routes are out while the route changes, and both threads free both.
static void blocks_outlive_a_change_of_the_route(void **state)
{
    (void)state;
    shared.count = OTHER_COUNT;
    shared.bytes = 512;
    worker_run(&worker, take, NULL);
    struct heap *lane = owner_of(shared.blocks[0]);
    set_lanes(false);
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        blocks[i] = hak_malloc(512);
        assert_ptr_equal(owner_of(blocks[i]), thread_heap);
    }
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        hak_free(shared.blocks[i]);
    }
    hak_thread_flush();
    assert_int_equal(lane->slabs.taken_bytes, 0);
    set_lanes(true);
    hak_free(blocks[0]);
    while (owner_of(blocks[0] = hak_malloc(512)) == thread_heap) {
        // The bin's blocks first; a miss then empties what the class has left.
        shared.blocks[0] = blocks[0];
    }
    assert_ptr_equal(owner_of(blocks[0]), lane);
    assert_null(thread_heap->bins.head[CLASS_512]);
    size_t taken_bytes = thread_heap->slabs.taken_bytes;
    hak_free(blocks[1]);  // no bin takes it
    assert_int_equal(thread_heap->slabs.taken_bytes, taken_bytes - 512);
    for (size_t i = 2; i < OTHER_COUNT; i++) {
        hak_free(blocks[i]);
    }
    hak_free(blocks[0]);
}

static void a_stock_leaves_when_its_class_has_another_route(void **state)
{
    (void)state;
    hak_free(hak_malloc(512));
    size_t counts[CLASS_COUNT] = {0};
    lane_count_stocks(thread_heap, counts);
    assert_true(counts[CLASS_512] > 0);
    set_lanes(false);
    hak_free(hak_malloc(512));
    memset(counts, 0, sizeof counts);
    lane_count_stocks(thread_heap, counts);
    assert_int_equal(counts[CLASS_512], 0);
    set_lanes(true);
}

static bool refuse(size_t wanted_bytes, void *context)
{
    (void)wanted_bytes;
    (void)context;
    return false;
}

// Another processor's lane has free blocks, this one's may not grow.
static void at_the_limit_any_lane_will_do(void **state)
{
    (void)state;
    struct heap *mine = owner_of(blocks[0] = hak_malloc(512));
    struct heap *other = heap_registry_lane(os_cpu_index() + 1);
    assert_ptr_not_equal(other, mine);
    void *kept = NULL;
    lock_take(other->slabs.lock);
    lock_give(other->slabs.lock);
    assert_true(slab_add(&other->slabs, CLASS_512, BACKEND_MID_V3));
    lock_take(other->slabs.lock);
    assert_int_equal(slab_refill(&other->slabs, CLASS_512, &kept, 1), 1);
    lock_give(other->slabs.lock);
    hak_limit_set_callback(refuse, NULL);
    (void)hak_limit_set(1);
    size_t count = 1;
    size_t other_count = 0;
    while (count < BLOCK_COUNT && (blocks[count] = hak_malloc(512)) != NULL) {
        other_count += owner_of(blocks[count++]) == other;
    }
    (void)hak_limit_set(0);
    assert_true(other_count >= 7);  // at least what shares a page with the one that is kept
    for (size_t i = 0; i < count; i++) {
        hak_free(blocks[i]);
    }
    hak_free(kept);
}

static void free_twice(void *block)
{
    void *others[3];
    for (int i = 0; i < 3; i++) {
        others[i] = hak_malloc(48);
    }
    hak_free(block);
    for (int i = 0; i < 3; i++) {
        hak_free(others[i]);
    }
    hak_free(block);
}

static void free_twice_with_a_flush(void *block)
{
    hak_free(block);
    hak_thread_flush();
    hak_free(block);
    hak_thread_flush();
}

static void free_inside(void *block)
{
    hak_free((char *)block + 16);
    hak_thread_flush();
}

static void misuse_is_named(void **state)
{
    (void)state;
    void *kept = hak_malloc(48);
    void *block = hak_malloc(48);
    assert_dies_of("double free", block, 48, free_twice, block);
    assert_dies_of("double free", block, 48, free_twice_with_a_flush, block);
    assert_dies_of("free", (char *)block + 16, 0, free_inside, block);
    hak_free(block);
    hak_free(kept);
}

static void first_class_heaps_have_no_lanes(void **state)
{
    (void)state;
    struct hak_heap *heap = hak_heap_create();
    void *block = hak_heap_malloc(heap, 512);
    assert_int_equal(owner_of(block)->kind, HEAP_SHARED);
    block = hak_realloc(block, 100);
    assert_int_equal(owner_of(block)->kind, HEAP_SHARED);
    void *lane_block = hak_realloc(hak_malloc(48), 200);
    assert_int_equal(owner_of(lane_block)->kind, HEAP_LANE);
    hak_free(lane_block);
    hak_heap_destroy(heap);
}

#define LANE_TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    skip_if_hardened();
    if (gates.tiny_static_route == FRONT_CHOICE_1) {
        return skip_program("HAKMEM_TINY_STATIC_ROUTE=1, the routes stay as they were at start");
    }
    if (route_of(CLASS_48) == ROUTE_POOL_ONLY) {
        return skip_program("HAKMEM_TINY_PROFILE=off, every band is the pool's");
    }
    // Backends that go before the lanes; and a huge page has room for all that a test takes.
    assert_int_equal(hak_ctl_set("HAKMEM_TINY_C7_ULTRA_ENABLED", "off"), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_TINY_C6_ULTRA_ENABLED", "off"), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_SMALL_HEAP_V7_ENABLED", "off"), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_HUGE_PAGES", "off"), 0);
    const struct CMUnitTest tests[] = {
        LANE_TEST(threads_share_the_slabs_of_a_lane),
        LANE_TEST(no_block_of_a_lane_is_in_a_bin),
        LANE_TEST(what_is_freed_comes_back_first),
        LANE_TEST(a_flush_gives_everything_to_the_lane),
        LANE_TEST(a_lane_has_no_mail),
        LANE_TEST(what_is_live_is_counted_to_the_block),
        LANE_TEST(a_thread_that_ends_leaves_its_stock_to_the_lane),
        LANE_TEST(blocks_outlive_a_change_of_the_route),
        LANE_TEST(a_stock_leaves_when_its_class_has_another_route),
        LANE_TEST(at_the_limit_any_lane_will_do),
        LANE_TEST(misuse_is_named),
        LANE_TEST(first_class_heaps_have_no_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
