// SPDX-License-Identifier: MIT
#include "thread/heap_registry.h"

#include "hakmem.h"
#include "policy/gates.h"
#include "route/route_table.h"
#include "thread/bin.h"
#include "unit_hardened.h"
#include "unit_worker.h"

#include <pthread.h>

enum {
    BLOCK_BYTES = 48,
    CLASS_48 = 3,
    BLOCK_COUNT = 100,
};

static struct worker worker;

static struct {
    struct heap *heap;
    void *blocks[BLOCK_COUNT];
} shared;

static void note_heap(void *argument)
{
    *(struct heap **)argument = heap_of_thread();
}

static void take_blocks(void *argument)
{
    (void)argument;
    shared.heap = heap_of_thread();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        shared.blocks[i] = hak_malloc(BLOCK_BYTES);
    }
}

static void give_blocks(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(shared.blocks[i]);
    }
    hak_thread_flush();
}

// It comes first: threads that ended have parked their heaps.
static void nothing_is_taken_where_no_heap_is_parked(void **state)
{
    (void)state;
    assert_int_equal(heap_registry_parked_count(), 0);
    assert_false(heap_registry_steal(heap_of_thread(), CLASS_48));
}

static void a_tag_that_was_never_issued_has_no_heap(void **state)
{
    (void)state;
    static const uint32_t tags[] = {0, NO_TAG, LARGE_TAG, FREED_TAG, OWNER_TAG_MOST};
    assert_non_null(heap_of_thread());
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        assert_null(heap_registry_lookup(tags[i]));
    }
    assert_null(heap_registry_lookup(heap_registry_count() + 1));
}

static void every_issued_tag_leads_to_its_heap(void **state)
{
    (void)state;
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        struct heap *heap = heap_registry_lookup(tag);
        assert_non_null(heap);
        assert_int_equal(heap->owner_tag, tag);
        assert_int_equal(heap->slabs.tag, page_entry_make(tag, 0));
        assert_true(heap->kind == HEAP_THREAD || heap->kind == HEAP_SHARED);
        page_entry matched = heap->kind == HEAP_THREAD ? heap->slabs.tag : 0;
        assert_int_equal(heap->match_tag == matched,
                         heap->kind == HEAP_THREAD && heap->front != FRONT_GATED);
    }
    assert_ptr_equal(heap_registry_lookup(heap_pool->owner_tag), heap_pool);
    assert_ptr_equal(heap_registry_lookup(heap_exit->owner_tag), heap_exit);
}

static void each_heap_codes_its_links_with_its_own_key(void **state)
{
    (void)state;
    assert_int_not_equal(thread_heap->link_key, heap_pool->link_key);
    assert_int_not_equal(thread_heap->link_key >> 48, 0);
}

static void the_heap_of_an_ended_thread_is_the_next_ones(void **state)
{
    (void)state;
    uint32_t parked_count = heap_registry_parked_count();
    struct heap *first = NULL;
    struct heap *second = NULL;
    worker_start(&worker);
    worker_run(&worker, note_heap, &first);
    assert_false(atomic_load(&first->is_parked));
    worker_end(&worker);
    assert_true(atomic_load(&first->is_parked));
    assert_int_equal(heap_registry_parked_count(), parked_count == 0 ? 1 : parked_count);
    uint32_t count = heap_registry_count();
    worker_start(&worker);
    worker_run(&worker, note_heap, &second);
    assert_ptr_equal(second, first);
    assert_false(atomic_load(&second->is_parked));
    assert_int_equal(heap_registry_count(), count);
    worker_end(&worker);
}

static void a_parked_heap_keeps_no_stock(void **state)
{
    (void)state;
    worker_start(&worker);
    worker_run(&worker, take_blocks, NULL);
    worker_end(&worker);
    assert_int_equal(shared.heap->bin_bytes, 0);
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        assert_int_equal(bin_count(shared.heap, cls), 0);
        assert_null(shared.heap->bins.head[cls]);
    }
    give_blocks();
}

static void a_refill_takes_a_slab_of_a_parked_heap(void **state)
{
    (void)state;
    if (!route_has_bins(CLASS_48)) {
        skip();
    }
    worker_start(&worker);
    worker_run(&worker, take_blocks, NULL);
    worker_end(&worker);
    assert_int_equal(shared.heap->slabs.classes[CLASS_48].slab_count, 1);
    hak_thread_flush();
    void *block = hak_malloc(BLOCK_BYTES);
    assert_int_equal(shared.heap->slabs.classes[CLASS_48].slab_count, 0);
    assert_ptr_equal(slab_of(block), slab_of(shared.blocks[0]));
    assert_int_equal(page_entry_tag(page_map_lookup(block)), thread_heap->owner_tag);
    hak_free(block);
    give_blocks();
}

static void nothing_is_taken_from_a_heap_that_a_fork_left_full(void **state)
{
    (void)state;
    if (!route_has_bins(CLASS_48)) {
        skip();
    }
    worker_start(&worker);
    worker_run(&worker, take_blocks, NULL);
    worker_end(&worker);
    shared.heap->is_orphan = true;
    assert_false(heap_registry_steal(thread_heap, CLASS_48));
    shared.heap->is_orphan = false;
    assert_true(heap_registry_steal(thread_heap, CLASS_48));
    assert_false(heap_registry_steal(thread_heap, CLASS_48));
    give_blocks();
}

static void an_unused_shared_heap_is_used_again(void **state)
{
    (void)state;
    struct heap *first = heap_registry_take_shared();
    struct heap *second = heap_registry_take_shared();
    assert_ptr_not_equal(first, second);
    assert_int_equal(first->kind, HEAP_SHARED);
    uint32_t count = heap_registry_count();
    heap_registry_give_shared(first);
    assert_ptr_equal(heap_registry_take_shared(), first);
    assert_int_equal(heap_registry_count(), count);
    heap_registry_give_shared(first);
    heap_registry_give_shared(second);
}

// A destructor that runs in every round, the last of which finds the thread's heap parked.
static pthread_key_t late_key;
static struct {
    _Atomic int rounds;
    void *_Atomic last_block;
    _Atomic bool was_after_exit;
} late;

static void allocate_late(void *value)
{
    void *block = hak_malloc(BLOCK_BYTES);
    hak_free(late.last_block);
    late.last_block = block;
    late.rounds++;
    late.was_after_exit = thread_heap == &heap_after_exit;
    (void)pthread_setspecific(late_key, value);
}

static void live_with_a_late_destructor(void *argument)
{
    (void)heap_of_thread();
    (void)pthread_setspecific(late_key, argument);
}

static void what_an_ending_thread_takes_at_last_is_of_the_exit_heap(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, allocate_late), 0);
    run_in_threads(live_with_a_late_destructor, &late, 0, 1);
    assert_true(late.rounds >= 2);
    assert_true(late.was_after_exit);
    assert_int_equal(page_entry_tag(page_map_lookup(late.last_block)), heap_exit->owner_tag);
    hak_free(late.last_block);
    assert_int_equal(heap_exit->slabs.taken_bytes, 0);
    assert_int_equal(pthread_key_delete(late_key), 0);
}

static void live_briefly(void *argument)
{
    hak_free(hak_malloc(100));
    (void)argument;
}

static void a_thousand_threads_leave_a_handful_of_heaps(void **state)
{
    (void)state;
    uint32_t count = heap_registry_count();
    for (int round = 0; round < 250; round++) {
        run_in_threads(live_briefly, NULL, 0, 4);
    }
    assert_true(heap_registry_count() <= count + 4);
}

int main(void)
{
    skip_if_hardened();
    // So that the key of the threads' ends isn't the first one, which is 0.
    pthread_key_t first_key;
    if (pthread_key_create(&first_key, NULL) != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_taken_where_no_heap_is_parked),
        cmocka_unit_test(a_tag_that_was_never_issued_has_no_heap),
        cmocka_unit_test(every_issued_tag_leads_to_its_heap),
        cmocka_unit_test(each_heap_codes_its_links_with_its_own_key),
        cmocka_unit_test(the_heap_of_an_ended_thread_is_the_next_ones),
        cmocka_unit_test(a_parked_heap_keeps_no_stock),
        cmocka_unit_test(a_refill_takes_a_slab_of_a_parked_heap),
        cmocka_unit_test(nothing_is_taken_from_a_heap_that_a_fork_left_full),
        cmocka_unit_test(an_unused_shared_heap_is_used_again),
        cmocka_unit_test(what_an_ending_thread_takes_at_last_is_of_the_exit_heap),
        cmocka_unit_test(a_thousand_threads_leave_a_handful_of_heaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
