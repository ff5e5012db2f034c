// SPDX-License-Identifier: MIT
#include "thread/remote_free.h"

#include "hakmem.h"
#include "policy/gates.h"
#include "route/route_table.h"
#include "thread/batch.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "unit_hardened.h"
#include "unit_worker.h"

enum {
    BLOCK_BYTES = 48,
    CLASS_48 = 3,
    BLOCK_COUNT = 1000,
    STRAIGHT_BYTES = 32 << 10,  // blocks of this size and more travel in no batch
    OUTBOX_BYTES_MOST = 64 << 10,
    MAILBOX_BYTES_MOST = 256 << 10,
};

// Blocks that the main thread and the worker hand to each other.
static struct {
    struct heap *heap;  // the worker's
    void *blocks[BLOCK_COUNT];
    size_t count;
    size_t bytes;
} shared;

static struct worker worker;

static void note_heap(void *argument)
{
    (void)argument;
    shared.heap = heap_of_thread();
}

static int start_worker(void **state)
{
    (void)state;
    heap_flush(heap_of_thread());
    worker_start(&worker);
    worker_run(&worker, note_heap, NULL);
    return shared.heap != NULL && shared.heap != thread_heap ? 0 : -1;
}

static int end_worker(void **state)
{
    (void)state;
    worker_end(&worker);
    return 0;
}

static void need_own_slabs(void)
{
    if (!route_has_bins(CLASS_48)) {
        skip();
    }
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

static void flush(void *argument)
{
    (void)argument;
    hak_thread_flush();
}

// The worker takes `count` blocks, which then belong to its heap.
static void let_worker_take(size_t count, size_t bytes)
{
    shared.count = count;
    shared.bytes = bytes;
    worker_run(&worker, take, NULL);
}

static size_t outbox_bytes(void)
{
    return atomic_load(&thread_heap->outbox_bytes);
}

static struct batch *mailbox_of(struct heap *heap)
{
    return atomic_load(&heap->mailbox);
}

static size_t live_blocks(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats.live_blocks;
}

static void a_block_of_another_heap_waits_in_the_outbox_until_the_flush(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(1, BLOCK_BYTES);
    hak_free(shared.blocks[0]);
    assert_int_equal(outbox_bytes(), BLOCK_BYTES);
    assert_null(mailbox_of(shared.heap));
    remote_free_flush(thread_heap);
    assert_int_equal(outbox_bytes(), 0);
    assert_non_null(mailbox_of(shared.heap));
    assert_ptr_equal(mailbox_of(shared.heap)->blocks[0], shared.blocks[0]);
}

static void a_full_batch_is_posted_by_itself(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BATCH_BLOCK_COUNT, BLOCK_BYTES);
    for (size_t i = 0; i < BATCH_BLOCK_COUNT; i++) {
        assert_null(mailbox_of(shared.heap));
        hak_free(shared.blocks[i]);
    }
    assert_int_equal(batch_count(mailbox_of(shared.heap)), BATCH_BLOCK_COUNT);
    assert_int_equal(outbox_bytes(), 0);
}

// As a fork leaves it that stops the thread between the last block and the posting.
static void a_full_batch_that_was_not_posted_is_not_written_past(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BATCH_BLOCK_COUNT + 1, BLOCK_BYTES);
    for (size_t i = 0; i < BATCH_BLOCK_COUNT - 1; i++) {
        hak_free(shared.blocks[i]);
    }
    struct batch *batch = NULL;
    for (size_t i = 0; i < OUTBOX_COUNT; i++) {
        struct batch *found = atomic_load(&thread_heap->outboxes[i]);
        batch = found != NULL && found->owner_tag == shared.heap->owner_tag ? found : batch;
    }
    assert_non_null(batch);
    atomic_store(&batch->blocks[BATCH_BLOCK_COUNT - 1], shared.blocks[BATCH_BLOCK_COUNT - 1]);
    atomic_store(&batch->count, BATCH_BLOCK_COUNT);
    hak_free(shared.blocks[BATCH_BLOCK_COUNT]);
    assert_true(batch_count(batch) <= BATCH_BLOCK_COUNT);
    hak_thread_flush();
    assert_int_equal(outbox_bytes(), 0);
}

static void the_spare_batches_can_be_counted_anew(void **state)
{
    (void)state;
    struct batch *first = batch_take(thread_heap);
    struct batch *second = batch_take(thread_heap);
    assert_true(first != NULL && second != NULL);
    batch_give(thread_heap, first);
    batch_give(thread_heap, second);
    size_t count = thread_heap->spare_batch_count;
    assert_true(count >= 2);
    thread_heap->spare_batch_count = SIZE_MAX;
    batch_repair(thread_heap);
    assert_int_equal(thread_heap->spare_batch_count, count);
}

static void the_outboxes_hold_only_so_many_bytes(void **state)
{
    (void)state;
    let_worker_take(100, STRAIGHT_BYTES / 2);
    for (size_t i = 0; i < 100; i++) {
        hak_free(shared.blocks[i]);
        assert_true(outbox_bytes() <= OUTBOX_BYTES_MOST);
    }
}

static void big_blocks_go_straight_to_their_slab(void **state)
{
    (void)state;
    let_worker_take(1, STRAIGHT_BYTES);
    size_t taken_bytes = shared.heap->slabs.taken_bytes;
    hak_free(shared.blocks[0]);
    assert_int_equal(outbox_bytes(), 0);
    assert_int_equal(shared.heap->slabs.taken_bytes, taken_bytes - hak_good_size(STRAIGHT_BYTES));
}

static void the_owner_gets_its_blocks_back_when_it_refills(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BLOCK_COUNT, BLOCK_BYTES);
    size_t slab_count = shared.heap->slabs.classes[CLASS_48].slab_count;
    for (int round = 0; round < 50; round++) {
        give(NULL);
        remote_free_flush(thread_heap);
        worker_run(&worker, take, NULL);
    }
    // Blocks that nobody collected would have forced fresh slabs.
    assert_true(shared.heap->slabs.classes[CLASS_48].slab_count <= slab_count + 1);
    give(NULL);
}

static void an_idle_owners_mailbox_is_emptied_by_who_posts(void **state)
{
    (void)state;
    size_t block_bytes = hak_good_size(2048);
    let_worker_take(BLOCK_COUNT, 2048);
    size_t most = 0;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(shared.blocks[i]);
        most = max_size(most, atomic_load(&shared.heap->mailbox_bytes));
    }
    assert_true(most > 0);
    assert_true(most <= MAILBOX_BYTES_MOST + BATCH_BLOCK_COUNT * block_bytes);
    assert_true(shared.heap->slabs.taken_bytes < BLOCK_COUNT * block_bytes);
}

static void small_blocks_do_not_heap_up_in_a_mailbox_either(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BLOCK_COUNT, 16);
    size_t posted_count = 0;
    for (int round = 0; round < 20; round++) {
        give(NULL);
        remote_free_flush(thread_heap);
        posted_count = 0;
        for (struct batch *batch = mailbox_of(shared.heap); batch != NULL; batch = batch->next) {
            posted_count++;
        }
        assert_true(posted_count <= 64);
        worker_run(&worker, take, NULL);
    }
    give(NULL);
}

static void a_parked_heaps_mailbox_is_emptied_by_who_posts(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BLOCK_COUNT, BLOCK_BYTES);
    worker_end(&worker);
    assert_true(atomic_load(&shared.heap->is_parked));
    give(NULL);
    remote_free_flush(thread_heap);
    assert_null(mailbox_of(shared.heap));
    assert_int_equal(shared.heap->slabs.classes[CLASS_48].slab_count, 0);
    worker_start(&worker);
}

// Between free and post the slab of the blocks changes hands: they are strays then.
static void blocks_that_changed_hands_on_the_way_are_forwarded(void **state)
{
    (void)state;
    need_own_slabs();
    let_worker_take(BATCH_BLOCK_COUNT - 1, BLOCK_BYTES);
    worker_end(&worker);
    give(NULL);
    size_t taken_bytes = thread_heap->slabs.taken_bytes;
    assert_true(heap_registry_steal(thread_heap, CLASS_48));
    page_entry entry = page_map_lookup(shared.blocks[0]);
    assert_int_equal(page_entry_tag(entry), thread_heap->owner_tag);
    assert_int_equal(thread_heap->slabs.taken_bytes, taken_bytes + shared.count * BLOCK_BYTES);
    remote_free_flush(thread_heap);
    assert_null(mailbox_of(shared.heap));
    assert_int_equal(thread_heap->slabs.taken_bytes, taken_bytes);
    assert_int_equal(shared.heap->slabs.classes[CLASS_48].slab_count, 0);
    worker_start(&worker);
}

static void blocks_on_the_way_are_counted_as_in_transit(void **state)
{
    (void)state;
    need_own_slabs();
    size_t before = live_blocks();
    let_worker_take(100, BLOCK_BYTES);
    assert_int_equal(live_blocks(), before + 100);
    give(NULL);
    assert_int_equal(live_blocks(), before);
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    assert_int_equal(stats.transit_bytes, 100 * BLOCK_BYTES);
    remote_free_flush(thread_heap);
    worker_run(&worker, flush, NULL);
    assert_int_equal(hak_stats_read(&stats), 0);
    assert_int_equal(stats.transit_bytes, 0);
    assert_int_equal(live_blocks(), before);
}

#define REMOTE_TEST(name) cmocka_unit_test_setup_teardown(name, start_worker, end_worker)

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        REMOTE_TEST(a_block_of_another_heap_waits_in_the_outbox_until_the_flush),
        REMOTE_TEST(a_full_batch_is_posted_by_itself),
        REMOTE_TEST(a_full_batch_that_was_not_posted_is_not_written_past),
        REMOTE_TEST(the_spare_batches_can_be_counted_anew),
        REMOTE_TEST(the_outboxes_hold_only_so_many_bytes),
        REMOTE_TEST(big_blocks_go_straight_to_their_slab),
        REMOTE_TEST(the_owner_gets_its_blocks_back_when_it_refills),
        REMOTE_TEST(an_idle_owners_mailbox_is_emptied_by_who_posts),
        REMOTE_TEST(small_blocks_do_not_heap_up_in_a_mailbox_either),
        REMOTE_TEST(a_parked_heaps_mailbox_is_emptied_by_who_posts),
        REMOTE_TEST(blocks_that_changed_hands_on_the_way_are_forwarded),
        REMOTE_TEST(blocks_on_the_way_are_counted_as_in_transit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
