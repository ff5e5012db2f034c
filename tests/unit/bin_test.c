// SPDX-License-Identifier: MIT
#include "gates_check.h"
#include "hakmem.h"
#include "policy/gates.h"
#include "route/route_table.h"
#include "stats/budget.h"
#include "thread/bin.h"
#include "unit_check.h"
#include "unit_hardened.h"

#include <string.h>

enum {
    CLASS_48 = 3,
    BLOCK_BYTES = 48,
    BLOCK_COUNT = 3000,
    BLOCKS_MOST = 512,
    TICK_COUNT = 1024,
    LEAST_PROMISE_BYTES = 32 << 10,  // to a heap, also when others have promised it all
};

static struct heap *heap;
static void *blocks[BLOCK_COUNT];

static int start_empty(void **state)
{
    (void)state;
    gates.learner = false;  // it moves the bounds that are tested here
    heap = heap_of_thread();
    heap_flush(heap);
    return heap != NULL && heap->bin_bytes == 0 ? 0 : -1;
}

static void need_bins(void)
{
    if (!class_has_bin(CLASS_48)) {
        skip();
    }
}

static void take_blocks(class_id cls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        blocks[i] = hak_malloc(size_class_bytes(cls));
        assert_non_null(blocks[i]);
    }
}

static void give_blocks(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hak_free(blocks[i]);
    }
}

static size_t stock_of(class_id cls)
{
    return bin_count(heap, cls) + atomic_load(&heap->reserves[cls].count);
}

static size_t list_length(const struct block *block)
{
    size_t length = 0;
    for (; block != NULL; block = link_decode(block->link, heap->link_key)) {
        length++;
    }
    return length;
}

static void the_last_block_in_is_the_first_out(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, 3);
    while (bin_pop(heap, CLASS_48) != NULL) {
        // What the refill stocked is lost to this test, and the slab is released at the end.
    }
    for (size_t i = 0; i < 3; i++) {
        bin_push(heap, CLASS_48, blocks[i]);
    }
    assert_int_equal(bin_count(heap, CLASS_48), 3);
    for (size_t i = 3; i-- > 0;) {
        assert_ptr_equal(bin_pop(heap, CLASS_48), blocks[i]);
    }
    assert_null(bin_pop(heap, CLASS_48));
    assert_int_equal(bin_count(heap, CLASS_48), 0);
}

static void the_count_is_the_length_of_the_list(void **state)
{
    (void)state;
    for (size_t count = 1; count < 700; count += 41) {
        take_blocks(CLASS_48, count);
        assert_int_equal(list_length(heap->bins.head[CLASS_48]), bin_count(heap, CLASS_48));
        give_blocks(count);
        assert_int_equal(list_length(heap->bins.head[CLASS_48]), bin_count(heap, CLASS_48));
        assert_int_equal(list_length(heap->reserves[CLASS_48].chain),
                         atomic_load(&heap->reserves[CLASS_48].count));
        assert_int_equal(bin_count_of_other(heap, CLASS_48), bin_count(heap, CLASS_48));
    }
}

static void the_limit_of_a_class_grows_on_use_up_to_its_bounds(void **state)
{
    (void)state;
    need_bins();
    uint32_t limit = 0;
    size_t growth_count = 0;
    for (int round = 0; round < 20; round++) {
        take_blocks(CLASS_48, BLOCK_COUNT);
        give_blocks(BLOCK_COUNT);
        assert_true(heap->bins.limit[CLASS_48] >= limit);
        growth_count += heap->bins.limit[CLASS_48] > limit;
        limit = heap->bins.limit[CLASS_48];
    }
    assert_true(growth_count >= 1);
    size_t total_bytes = max_size(gates.total_bin_bytes, LEAST_PROMISE_BYTES);
    size_t bound_bytes = min_size(gates.bin_bytes, min_size(gates.heap_bin_bytes, total_bytes));
    size_t least = min_size(bound_bytes / 2 / BLOCK_BYTES, BLOCKS_MOST);
    assert_true(limit >= least && limit <= BLOCKS_MOST);
}

static void every_bound_holds_in_every_class(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t block_bytes = size_class_bytes((class_id)cls);
        size_t count = min_size(BLOCK_COUNT, (1 << 20) / block_bytes);
        for (int round = 0; round < 3; round++) {
            take_blocks((class_id)cls, count);
            give_blocks(count);
        }
        size_t stock = stock_of((class_id)cls);
        assert_true(stock <= 2 * BLOCKS_MOST);
        // In bytes it is rounded up to whole blocks of the list and of its reserve.
        assert_true(stock * block_bytes <= gates.bin_bytes + 2 * block_bytes);
        assert_true(heap->bin_bytes <= gates.heap_bin_bytes);
        assert_int_equal(budget_read(&budget.bin_bytes), heap->bin_bytes);
        assert_true(gates.bin_bytes != 0 || stock == 0);
        assert_true(route_has_bins((class_id)cls) || stock == 0);
    }
}

// By the statistics, so that no stock is overlooked.
static size_t bin_bytes_now(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats.bin_bytes;
}

static void after_a_flush_a_thread_keeps_nothing(void **state)
{
    (void)state;
    size_t taken_bytes = heap->slabs.taken_bytes;
    bool is_all_own = true;  // stocks of lane blocks are none of the heap's own
    for (unsigned cls = 1; cls < CLASS_COUNT; cls += 3) {
        take_blocks((class_id)cls, 100);
        give_blocks(100);
        is_all_own = is_all_own && route_has_bins((class_id)cls);
    }
    assert_true(heap->slabs.taken_bytes - taken_bytes == bin_bytes_now() || !is_all_own);
    hak_thread_flush();
    assert_int_equal(heap->slabs.taken_bytes, taken_bytes);
    assert_int_equal(bin_bytes_now(), 0);
    // What a repair in a forked child would count.
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        assert_null(heap->bins.head[cls]);
        assert_null(heap->reserves[cls].chain);
    }
}

// Counted by the statistics, so that no stock is overlooked.
static void a_thread_keeps_no_more_at_hand_than_its_gate_says(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls += 3) {
        size_t count = min_size(BLOCK_COUNT, (48 << 20) / size_class_bytes((class_id)cls));
        for (int round = 0; round < 3; round++) {
            take_blocks((class_id)cls, count);
            give_blocks(count);
            assert_true(bin_bytes_now() <= gates.heap_bin_bytes);
        }
    }
    hak_thread_flush();
    assert_int_equal(bin_bytes_now(), 0);
}

static void the_bins_of_a_heap_share_its_bound(void **state)
{
    (void)state;
    uint64_t saved = gates.heap_bin_bytes;
    gates.heap_bin_bytes = 10000;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        take_blocks((class_id)cls, 50);
        give_blocks(50);
        assert_true(heap->bin_bytes <= 10000);
    }
    size_t stock_bytes = 0;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        stock_bytes += stock_of((class_id)cls) * size_class_bytes((class_id)cls);
        assert_true(heap->bins.limit[cls] <= heap->limit_cap);
    }
    gates.heap_bin_bytes = saved;
    assert_true(stock_bytes <= 10000);
    assert_true(stock_bytes > 0 || !class_has_bin(1));
}

static void the_bins_of_all_heaps_share_the_processs_bound(void **state)
{
    (void)state;
    need_bins();
    uint64_t saved = gates.total_bin_bytes;
    gates.total_bin_bytes = budget_read(&budget.bin_bytes);
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        take_blocks((class_id)cls, BLOCK_COUNT);
        give_blocks(BLOCK_COUNT);
        assert_true(heap->bin_bytes <= LEAST_PROMISE_BYTES);
    }
    gates.total_bin_bytes = saved;
    assert_true(heap->bin_bytes > 0);
}

static void what_was_set_aside_comes_back_in_one(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, BLOCK_COUNT);
    give_blocks(BLOCK_COUNT);
    struct block *chain = heap->reserves[CLASS_48].chain;
    uint32_t count = atomic_load(&heap->reserves[CLASS_48].count);
    assert_non_null(chain);
    assert_true(count > 0 && count <= heap->bins.limit[CLASS_48]);
    while (bin_pop(heap, CLASS_48) != NULL) {
        // Until the bin is empty.
    }
    assert_true(bin_take_reserve(heap, CLASS_48));
    assert_ptr_equal(heap->bins.head[CLASS_48], chain);
    assert_int_equal(bin_count(heap, CLASS_48), count);
    assert_int_equal(list_length(chain), count);
    assert_null(heap->reserves[CLASS_48].chain);
    while (bin_pop(heap, CLASS_48) != NULL) {
        // Until the bin is empty.
    }
    assert_false(bin_take_reserve(heap, CLASS_48));
}

static void what_is_only_freed_is_collected_until_the_next_miss(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, BLOCK_COUNT);
    for (size_t i = 0; i < BLOCK_COUNT && atomic_load(&heap->collector.count) == 0; i++) {
        hak_free(blocks[i]);
        blocks[i] = NULL;
    }
    assert_int_not_equal(atomic_load(&heap->collector.count), 0);
    void *block = hak_malloc(2 * BLOCK_BYTES);
    assert_int_equal(atomic_load(&heap->collector.count), 0);
    hak_free(block);
    give_blocks(BLOCK_COUNT);
}

static void emptying_gives_the_blocks_and_the_promise_back(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, 100);
    give_blocks(100);
    size_t stock_bytes = stock_of(CLASS_48) * BLOCK_BYTES;
    size_t taken_bytes = heap->slabs.taken_bytes;
    assert_true(stock_bytes > 0);
    assert_true(budget_read(&budget.bin_bytes) >= stock_bytes);
    bin_empty(heap, CLASS_48);
    assert_int_equal(heap->bins.limit[CLASS_48], 0);
    assert_int_equal(stock_of(CLASS_48), 0);
    assert_int_equal(budget_read(&budget.bin_bytes), 0);
    assert_int_equal(heap->slabs.taken_bytes, taken_bytes - stock_bytes);
}

// A fork may find a list whose limit, room and count have yet to be written.
static void a_repair_counts_the_lists_anew(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, 100);
    give_blocks(100);
    size_t stock_count = stock_of(CLASS_48);
    uint32_t count = bin_count(heap, CLASS_48);
    heap->bins.limit[CLASS_48] = count - 1;
    heap->bins.room[CLASS_48] = count;
    atomic_store(&heap->reserves[CLASS_48].count, 0);
    bin_repair(heap);
    assert_int_equal(heap->bins.limit[CLASS_48], count);
    assert_int_equal(bin_count(heap, CLASS_48), count);
    assert_int_equal(stock_of(CLASS_48), stock_count);
    assert_int_equal(budget_read(&budget.bin_bytes), heap->bin_bytes);
    assert_true(heap->bin_bytes >= stock_count * BLOCK_BYTES);
    bin_empty(heap, CLASS_48);
    assert_int_equal(budget_read(&budget.bin_bytes), 0);
}

static void an_idle_bin_is_emptied_after_a_while_and_a_busy_one_is_not(void **state)
{
    (void)state;
    need_bins();
    take_blocks(CLASS_48, 8);
    give_blocks(8);
    take_blocks(CLASS_48 + 1, 8);
    give_blocks(8);
    for (int i = 0; i < 2 * TICK_COUNT; i++) {
        heap->reserves[CLASS_48 + 1].is_used = true;
        bin_tick(heap);
    }
    assert_int_equal(heap->bins.limit[CLASS_48], 0);
    assert_int_equal(stock_of(CLASS_48), 0);
    assert_true(heap->bins.limit[CLASS_48 + 1] != 0);
}

static void a_class_without_a_stock_keeps_nothing(void **state)
{
    (void)state;
    if (class_has_bin(CLASS_48)) {
        skip();
    }
    take_blocks(CLASS_48, 10);
    assert_int_equal(bin_refill_count(heap, CLASS_48), 1);
    assert_int_equal(bin_push_many(heap, CLASS_48, blocks, 10), 0);
    give_blocks(10);
    assert_int_equal(stock_of(CLASS_48), 0);
    assert_int_equal(budget_read(&budget.bin_bytes), 0);
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_count_is_the_length_of_the_list, start_empty),
        cmocka_unit_test_setup(the_limit_of_a_class_grows_on_use_up_to_its_bounds, start_empty),
        cmocka_unit_test_setup(every_bound_holds_in_every_class, start_empty),
        cmocka_unit_test_setup(after_a_flush_a_thread_keeps_nothing, start_empty),
        cmocka_unit_test_setup(a_thread_keeps_no_more_at_hand_than_its_gate_says, start_empty),
        cmocka_unit_test_setup(the_bins_of_a_heap_share_its_bound, start_empty),
        cmocka_unit_test_setup(the_bins_of_all_heaps_share_the_processs_bound, start_empty),
        cmocka_unit_test_setup(what_is_only_freed_is_collected_until_the_next_miss, start_empty),
        cmocka_unit_test_setup(emptying_gives_the_blocks_and_the_promise_back, start_empty),
        cmocka_unit_test_setup(a_repair_counts_the_lists_anew, start_empty),
        cmocka_unit_test_setup(an_idle_bin_is_emptied_after_a_while_and_a_busy_one_is_not,
                               start_empty),
        cmocka_unit_test_setup(a_class_without_a_stock_keeps_nothing, start_empty),
        cmocka_unit_test_setup(what_was_set_aside_comes_back_in_one, start_empty),
        cmocka_unit_test_setup(the_last_block_in_is_the_first_out, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
