// SPDX-License-Identifier: MIT
#include "backend/v7.h"

#include "../support/random_stream.h"
#include "backend/backend_purge.h"
#include "backend_misuse.h"
#include "budget_check.h"
#include "hakmem.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "thread/heap_registry.h"
#include "unit_worker.h"

#include <stdio.h>
#include <string.h>

enum {
    CLASS_400 = 25,
    CLASS_512 = 32,
    OF_A_SLAB = UNIT_BYTES / 512,
    BLOCK_COUNT = 40 * OF_A_SLAB,
    TAG = 9,
};

static struct slab_owner owner;
static struct lock owner_lock;
static struct slab_owner other;
static struct lock other_lock;
static void *blocks[BLOCK_COUNT];

static int start(void **state)
{
    (void)state;
    owner = (struct slab_owner){.lock = &owner_lock};
    other = (struct slab_owner){.lock = &other_lock};
    owner.tag = page_entry_make(TAG, 0);
    other.tag = page_entry_make(TAG + 1, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)backend_purge(&owner);  // sets emptied_bytes right
    (void)backend_purge(&other);
    return owner.taken_bytes == 0 && other.taken_bytes == 0 && owner.v7_slabs[CLASS_512] == NULL
               ? 0
               : -1;
}

static void take(enum backend_id backend, class_id cls, size_t first, size_t count)
{
    while (count != 0) {
        size_t taken = backend_refill(backend, &owner, cls, blocks + first, count);
        assert_true(taken != 0);
        first += taken;
        count -= taken;
    }
}

static void give(size_t first, size_t count)
{
    if (count != 0) {
        backend_flush(&owner, blocks + first, count);
    }
}

static uintptr_t page_of(const void *block)
{
    return (uintptr_t)block / 4096;
}

static void a_fresh_slab_is_handed_out_in_order(void **state)
{
    (void)state;
    take(BACKEND_V7, CLASS_512, 0, OF_A_SLAB);
    for (size_t i = 1; i < OF_A_SLAB; i++) {
        assert_int_equal((char *)blocks[i] - (char *)blocks[i - 1], 512);
    }
    assert_int_equal(page_map_lookup(blocks[0]), owner.tag | CLASS_512);
    give(0, OF_A_SLAB);
    assert_int_equal(page_map_lookup(blocks[0]), 0);
}

static void a_page_is_used_up_before_the_next(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() == 4096);
    take(BACKEND_V7, CLASS_512, 0, OF_A_SLAB);
    // Two of the second page, seven of the fifth, all but one of the tenth.
    give(8, 2);
    give(4 * 8, 6);
    give(9 * 8 + 1, 7);
    void *found[15];
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(v7_refill(&owner, CLASS_512, &found[i], 1), 1);
    }
    for (size_t i = 0; i < 15; i++) {
        size_t index = i < 7 ? 9 * 8 + 1 : i < 13 ? 4 * 8 : 8;
        assert_int_equal(page_of(found[i]), page_of(blocks[index]));
    }
    give(0, OF_A_SLAB);
}

// How often the next block lies on another page than the one before it, in a heap of which a random half
// is free.
static size_t count_page_changes(enum backend_id backend)
{
    enum {
        NEW_COUNT = 500
    };
    struct random_stream random = {.state = 7};
    size_t change_count = 0;
    take(backend, CLASS_400, 0, BLOCK_COUNT);
    for (size_t left = BLOCK_COUNT; left > 1; left--) {
        size_t pick = random_below(&random, left);
        void *block = blocks[pick];
        blocks[pick] = blocks[left - 1];
        blocks[left - 1] = block;
    }
    give(0, BLOCK_COUNT / 2);
    take(backend, CLASS_400, 0, NEW_COUNT);
    for (size_t i = 1; i < NEW_COUNT; i++) {
        change_count += page_of(blocks[i]) != page_of(blocks[i - 1]);
    }
    give(0, NEW_COUNT);
    give(BLOCK_COUNT / 2, BLOCK_COUNT / 2);
    return change_count;
}

static void what_is_allocated_together_lies_together(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() == 4096);
    size_t slab_changes = count_page_changes(BACKEND_LEGACY);
    size_t page_changes = count_page_changes(BACKEND_V7);
    print_message("500 blocks in a heap full of holes: %zu page changes from slabs, %zu from V7\n",
                  slab_changes, page_changes);
    assert_true(page_changes * 4 <= slab_changes * 3);
}

static void empty_pages_are_purged_and_used_last(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() == 4096);
    take(BACKEND_V7, CLASS_512, 0, OF_A_SLAB);
    for (size_t i = 0; i < OF_A_SLAB; i++) {
        memset(blocks[i], (int)i, 512);
    }
    size_t committed_bytes = committed_page_bytes();
    // Pages 0 to 7 but for a block of page 3, and two blocks of page 12.
    give(0, 3 * 8);
    give(3 * 8 + 1, 4 * 8 + 7);
    give(12 * 8, 2);
    assert_int_equal(owner.emptied_bytes, 7 * 4096);
    assert_int_equal(backend_purge(&owner), 7 * 4096);
    assert_int_equal(committed_page_bytes(), committed_bytes - 7 * 4096);
    assert_int_equal(backend_purge(&owner), 0);
    assert_true(is_filled_with(blocks[3 * 8], 3 * 8, 512));
    void *found[10];
    assert_int_equal(v7_refill(&owner, CLASS_512, found, 9), 9);
    assert_int_equal(committed_page_bytes(), committed_bytes - 7 * 4096);
    assert_int_equal(v7_refill(&owner, CLASS_512, &found[9], 1), 1);
    assert_int_equal(committed_page_bytes(), committed_bytes - 6 * 4096);
    assert_true(is_filled_with(found[9], 0, 512));
    backend_flush(&owner, found, 10);
    give(3 * 8, 1);
    give(8 * 8, 4 * 8);
    give(12 * 8 + 2, 3 * 8 + 6);
    assert_int_equal(committed_page_bytes(), committed_bytes);  // all dirty now
}

// Blocks of 400 bytes reach from page to page.
static void a_block_that_reaches_into_a_page_keeps_it(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() == 4096);
    enum {
        COUNT = UNIT_BYTES / 400
    };
    take(BACKEND_V7, CLASS_400, 0, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        memset(blocks[i], (int)i, 400);
    }
    // Block 10 lies on pages 0 and 1, block 20 on 1 and 2.
    assert_int_not_equal(page_of(blocks[10]), page_of((char *)blocks[10] + 399));
    give(0, 10);
    give(11, COUNT - 11);
    assert_int_equal(backend_purge(&owner), 14 * 4096);
    assert_true(is_filled_with(blocks[10], 10, 400));
    struct span *slab = span_of((uintptr_t)blocks[10]);
    assert_int_equal(((struct v7_slab *)(void *)slab)->purged, 0xfffc);
    give(10, 1);
}

static void at_the_limit_resident_blocks_are_found(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() == 4096);
    take(BACKEND_V7, CLASS_512, 0, 2 * OF_A_SLAB);
    give(0, 5 * 8);              // five pages of the first slab
    give(OF_A_SLAB, 5 * 8);      // and of the second
    give(2 * OF_A_SLAB - 3, 2);  // two blocks at its end
    (void)backend_purge(&owner);
    (void)page_heap_purge(0);
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes));
    void *found[3];
    assert_int_equal(v7_refill(&owner, CLASS_512, found, 3), 2);
    assert_int_equal(v7_refill(&owner, CLASS_512, &found[2], 1), 0);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    assert_int_equal(v7_refill(&owner, CLASS_512, &found[2], 1), 1);
    backend_flush(&owner, found, 3);
    give(5 * 8, OF_A_SLAB - 5 * 8);
    give(OF_A_SLAB + 5 * 8, OF_A_SLAB - 5 * 8 - 3);
    give(2 * OF_A_SLAB - 1, 1);
}

static void a_slab_moves_with_its_holes(void **state)
{
    (void)state;
    take(BACKEND_V7, CLASS_512, 0, OF_A_SLAB);
    assert_false(v7_move(&owner, &other, CLASS_512));
    give(0, 5);
    assert_true(v7_move(&owner, &other, CLASS_512));
    assert_int_equal(owner.taken_bytes, 0);
    assert_int_equal(other.taken_bytes, (OF_A_SLAB - 5) * 512);
    assert_int_equal(page_map_lookup(blocks[9]), other.tag | CLASS_512);
    assert_int_equal(v7_refill(&other, CLASS_512, blocks, 5), 5);
    backend_flush(&other, blocks, OF_A_SLAB);
    assert_int_equal(other.classes[CLASS_512].slab_count, 0);
}

static void arrays_of_links_are_used_again(void **state)
{
    (void)state;
    take(BACKEND_V7, CLASS_512, 0, 1);
    give(0, 1);
    size_t record_bytes = budget_read(&budget.record_bytes);
    for (int i = 0; i < 1000; i++) {
        take(BACKEND_V7, CLASS_512, 0, 1);
        give(0, 1);
    }
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes);
}

static void misuse_is_named(void **state)
{
    (void)state;
    (void)assert_misuse_is_named(BACKEND_V7, &owner);
}

// ---- Through malloc and free ----------------------------------------------------------------------

static struct worker worker;

static struct {
    struct heap *heap;
    void *blocks[BLOCK_COUNT];
} shared;

static void set_v7(const char *value)
{
    assert_int_equal(hak_ctl_set("HAKMEM_SMALL_HEAP_V7_CLASSES", "0xff"), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_SMALL_HEAP_V7_ENABLED", value), 0);
}

static void take_all(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        size_t bytes = 16 + i % 500;
        shared.blocks[i] = hak_malloc(bytes);
        memset(shared.blocks[i], (int)i, bytes);
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

static void assert_whole(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_true(is_filled_with(shared.blocks[i], (unsigned char)i, 16 + i % 500));
    }
}

static void threads_hand_them_over_adopt_them_and_change_their_route(void **state)
{
    (void)state;
    if (route_of(CLASS_400) == ROUTE_POOL_ONLY) {
        skip();  // no thread has slabs
    }
    set_v7("on");
    worker_start(&worker);
    worker_run(&worker, take_all, NULL);
    assert_int_equal(span_of((uintptr_t)shared.blocks[0])->backend, BACKEND_V7);
    assert_whole();
    give_all(NULL);  // of another thread
    hak_thread_flush();
    worker_run(&worker, take_all, NULL);
    worker_end(&worker);
    worker_start(&worker);  // adopts the heap
    assert_whole();
    worker_run(&worker, give_all, NULL);
    worker_run(&worker, take_all, NULL);
    set_v7("off");
    worker_run(&worker, give_all, NULL);
    worker_run(&worker, take_all, NULL);
    set_v7("on");
    assert_whole();
    worker_run(&worker, give_all, NULL);
    worker_end(&worker);
    assert_int_equal(shared.heap->slabs.taken_bytes, 0);
    set_v7("off");
}

#define SLAB_TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    if (gates.tiny_static_route == FRONT_CHOICE_1) {
        return skip_program("HAKMEM_TINY_STATIC_ROUTE=1, the routes stay as they were at start");
    }
    (void)hak_limit_set(0);  // the tests set limits of their own
    const struct CMUnitTest tests[] = {
        SLAB_TEST(a_fresh_slab_is_handed_out_in_order),
        SLAB_TEST(a_page_is_used_up_before_the_next),
        SLAB_TEST(what_is_allocated_together_lies_together),
        SLAB_TEST(empty_pages_are_purged_and_used_last),
        SLAB_TEST(a_block_that_reaches_into_a_page_keeps_it),
        SLAB_TEST(at_the_limit_resident_blocks_are_found),
        SLAB_TEST(a_slab_moves_with_its_holes),
        SLAB_TEST(arrays_of_links_are_used_again),
        SLAB_TEST(misuse_is_named),
        cmocka_unit_test(threads_hand_them_over_adopt_them_and_change_their_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
