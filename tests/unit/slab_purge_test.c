// SPDX-License-Identifier: MIT
#include "../support/random_stream.h"
#include "backend/backend.h"
#include "backend/backend_purge.h"
#include "backend/slab_purge.h"
#include "base/bit_runs.h"
#include "base/bits.h"
#include "budget_check.h"
#include "os/os_memory.h"
#include "os_refusal.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <string.h>

enum {
    CLASS_64 = 4,
    CAPACITY = UNIT_BYTES / 64,
    CAPACITY_MOST = UNIT_BYTES / TINY_STEP_BYTES,
    DIRT = 0xa5,
};

static struct slab_owner owner;
static struct lock owner_lock;
static void *blocks[CAPACITY_MOST];

static int start_empty(void **state)
{
    (void)state;
    os_refusal_end();
    owner = (struct slab_owner){.lock = &owner_lock};
    owner.tag = page_entry_make(7, 0);
    return 0;
}

static int release_all(void **state)
{
    (void)state;
    (void)backend_purge(&owner);  // forgets what it has counted of emptied pages
    slab_release_all(&owner);
    return 0;
}

// A full slab of the class, written all over; its blocks are blocks[0 .. capacity).
static struct slab *add_full_slab(class_id cls)
{
    assert_true(slab_add(&owner, cls, BACKEND_LEGACY));
    struct slab *slab = owner.classes[cls].list[SLAB_MOSTLY_FREE];
    assert_int_equal(slab_refill(&owner, cls, blocks, slab->capacity), slab->capacity);
    for (size_t i = 0; i < slab->capacity; i++) {
        memset(blocks[i], DIRT, size_class_bytes(cls));
    }
    return slab;
}

static size_t granule_bytes(const struct slab *slab)
{
    return (size_t)1 << slab_granule_shift(slab);
}

static size_t purged_count(const struct slab *slab)
{
    return (size_t)__builtin_popcountll(slab->purged);
}

static void a_slab_has_at_most_64_granules_of_whole_pages(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        struct slab *slab = add_full_slab((class_id)cls);
        size_t slab_bytes = (size_t)slab->span.unit_count * UNIT_BYTES;
        assert_true(slab_bytes / granule_bytes(slab) <= 64);
        assert_int_equal(granule_bytes(slab) % os_page_bytes(), 0);
        assert_true(granule_bytes(slab) == os_page_bytes() ||
                    slab_bytes / (granule_bytes(slab) / 2) > 64);
        backend_flush(&owner, blocks, slab->capacity);
    }
}

static void all_but_the_page_of_the_last_live_block_goes_back(void **state)
{
    (void)state;
    struct slab *slab = add_full_slab(CLASS_64);
    size_t committed_bytes = committed_page_bytes();
    void *live = blocks[CAPACITY / 2];
    backend_flush(&owner, blocks, CAPACITY / 2);
    backend_flush(&owner, blocks + CAPACITY / 2 + 1, CAPACITY / 2 - 1);
    size_t expected_bytes = UNIT_BYTES - granule_bytes(slab);
    assert_int_equal(backend_purge(&owner), expected_bytes);
    assert_int_equal(slab_purged_bytes(slab), expected_bytes);
    assert_int_equal(committed_page_bytes(), committed_bytes - expected_bytes);
    assert_true(is_filled_with(live, DIRT, 64));
    assert_int_equal(backend_purge(&owner), 0);
}

static void purged_pages_read_zero_and_count_again_when_used(void **state)
{
    (void)state;
    struct slab *slab = add_full_slab(CLASS_64);
    size_t committed_bytes = committed_page_bytes();
    backend_flush(&owner, blocks, CAPACITY - 1);
    size_t purged_bytes = backend_purge(&owner);
    size_t expected_bytes = committed_bytes - purged_bytes;
    size_t blocks_per_granule = granule_bytes(slab) / 64;
    for (size_t i = 0; i < purged_bytes / 64; i++) {
        void *block = NULL;
        assert_int_equal(slab_refill(&owner, CLASS_64, &block, 1), 1);
        assert_true(is_filled_with(block, 0, 64));
        expected_bytes += i % blocks_per_granule == 0 ? granule_bytes(slab) : 0;
        assert_int_equal(committed_page_bytes(), expected_bytes);
    }
    assert_int_equal(slab->purged, 0);
}

static void blocks_over_a_page_border_keep_both_pages(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    class_id cls = size_class_of(6144);  // a page and a half
    struct slab *slab = add_full_slab(cls);
    size_t shift = slab_granule_shift(slab);
    size_t live = 3;
    size_t start = (uintptr_t)blocks[live] - slab->span.base;
    uint64_t kept = bits_between(start >> shift, (start + 6144 - 1) >> shift);
    backend_flush(&owner, blocks, live);
    backend_flush(&owner, blocks + live + 1, slab->capacity - live - 1);
    assert_true(backend_purge(&owner) > 0);
    assert_int_equal(slab->purged & kept, 0);
    size_t slab_bytes = (size_t)slab->span.unit_count * UNIT_BYTES;
    assert_int_equal(purged_count(slab) + (size_t)__builtin_popcountll(kept), slab_bytes >> shift);
    assert_true(is_filled_with(blocks[live], DIRT, 6144));
}

static void a_full_slab_and_a_little_are_not_worth_a_purge(void **state)
{
    (void)state;
    (void)add_full_slab(CLASS_64);
    assert_int_equal(backend_purge(&owner), 0);
    backend_flush(&owner, blocks, 4096 / 64);
    assert_int_equal(backend_purge(&owner), 0);
}

static void a_refused_purge_changes_nothing_and_is_tried_again(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    struct slab *slab = add_full_slab(CLASS_64);
    backend_flush(&owner, blocks, CAPACITY - 1);
    size_t committed_bytes = committed_page_bytes();
    os_refusal.is_purge_refused = true;
    assert_int_equal(backend_purge(&owner), 0);
    assert_int_equal(slab->purged, 0);
    assert_int_equal(slab->pending, 0);
    assert_int_equal(slab->list, SLAB_MOSTLY_FREE);
    assert_int_equal(committed_page_bytes(), committed_bytes);
    os_refusal_end();
    assert_true(backend_purge(&owner) > 0);
    assert_true(committed_page_bytes() < committed_bytes);
}

// Under a full limit only blocks whose pages are still there can be had; the rest stay for later.
static void the_limit_holds_for_purged_pages_too(void **state)
{
    (void)state;
    struct slab *slab = add_full_slab(CLASS_64);
    backend_flush(&owner, blocks, CAPACITY - 1);
    size_t purged_bytes = backend_purge(&owner);
    size_t free_count = slab->free_count;
    void *block = NULL;
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes));
    assert_int_equal(slab_refill(&owner, CLASS_64, &block, 1), 1);
    assert_true(slab_block_is_resident(slab, block));
    backend_flush(&owner, &block, 1);
    assert_int_equal(slab->free_count, free_count);
    assert_int_equal(owner.classes[CLASS_64].free_count, free_count);
    assert_int_equal(slab_purged_bytes(slab), purged_bytes);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    assert_int_equal(slab_refill(&owner, CLASS_64, blocks, CAPACITY), CAPACITY - 1);
    assert_int_equal(slab->purged, 0);
}

// A full slab, of which only every second block of one quarter stays taken.
static struct slab *add_slab_used_in_a_quarter(class_id cls, size_t quarter)
{
    struct slab *slab = add_full_slab(cls);
    size_t capacity = slab->capacity;
    for (size_t i = 0; i < capacity; i++) {
        if (i * 4 / capacity != quarter || i % 2 != 0) {
            backend_flush(&owner, &blocks[i], 1);
        }
    }
    return slab;
}

// Looked at block by block.
static size_t count_resident_free(const struct slab *slab)
{
    size_t count = 0;
    for (size_t i = 0; i < slab->capacity; i++) {
        const void *block = (void *)(slab->first + i * size_class_bytes(slab->cls));
        count += slab_block_is_free(block) && slab_block_is_resident(slab, block);
    }
    return count;
}

static size_t take_resident_in_batches(class_id cls, size_t batch_count)
{
    size_t taken = 0;
    size_t count = 0;
    while ((count = slab_refill(&owner, cls, blocks + taken, batch_count)) != 0) {
        for (size_t i = taken; i < taken + count; i++) {
            assert_true(slab_block_is_resident(slab_of(blocks[i]), blocks[i]));
        }
        taken += count;
    }
    return taken;
}

static void check_resident_blocks(class_id cls)
{
    run_only_where(os_page_bytes() < UNIT_BYTES);
    struct slab *slabs[] = {add_slab_used_in_a_quarter(cls, 0), add_slab_used_in_a_quarter(cls, 1),
                            add_slab_used_in_a_quarter(cls, 3)};
    size_t free_count = owner.classes[cls].free_count;
    size_t resident_count = 0;
    assert_true(backend_purge(&owner) > 0);
    for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++) {
        assert_int_equal(slab_resident_free_count(slabs[i]), count_resident_free(slabs[i]));
        resident_count += count_resident_free(slabs[i]);
    }
    assert_true(resident_count < free_count);
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes));
    for (size_t batch_count = 1; batch_count < 100; batch_count += 13) {
        size_t taken = take_resident_in_batches(cls, batch_count);
        assert_int_equal(taken, resident_count);
        assert_int_equal(owner.classes[cls].free_count, free_count - taken);
        backend_flush(&owner, blocks, taken);  // dies of a block that was handed out twice
    }
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    assert_int_equal(owner.classes[cls].free_count, free_count);
}

static void all_resident_blocks_can_be_had_under_a_full_limit_and_no_others(void **state)
{
    (void)state;
    static const size_t sizes[] = {16, 48, 64, 224, 1000, 5000, 6144, 20000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_resident_blocks(size_class_of(sizes[i]));
    }
}

static void a_purged_slab_that_becomes_empty_is_counted_whole(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    (void)page_heap_purge(0);
    size_t committed_bytes = committed_page_bytes();
    struct slab *slab = add_full_slab(CLASS_64);
    void *last = blocks[CAPACITY - 1];
    backend_flush(&owner, blocks, CAPACITY - 1);
    assert_true(backend_purge(&owner) > 0);
    assert_true(slab->purged != 0);
    backend_flush(&owner, &last, 1);
    assert_int_equal(page_heap_purge(0), UNIT_BYTES);
    assert_int_equal(committed_page_bytes(), committed_bytes);
}

// One bit a granule: no live block lies in it.
static uint64_t granules_without(const struct slab *slab, const bool *is_live)
{
    unsigned shift = slab_granule_shift(slab);
    size_t slab_bytes = (size_t)slab->span.unit_count * UNIT_BYTES;
    uint64_t empty = bits_between(0, (slab_bytes >> shift) - 1);
    size_t block_bytes = size_class_bytes(slab->cls);
    for (size_t i = 0; i < slab->capacity; i++) {
        if (is_live[i]) {
            size_t start = slab->first - slab->span.base + i * block_bytes;
            empty &= ~bits_between(start >> shift, (start + block_bytes - 1) >> shift);
        }
    }
    return empty;
}

static void check_emptied_bytes(class_id cls)
{
    static bool is_live[CAPACITY_MOST];
    struct slab *slab = add_full_slab(cls);
    size_t capacity = slab->capacity;
    memset(is_live, true, sizeof is_live);
    uint64_t before = granules_without(slab, is_live);
    // A stride that is prime to every capacity visits all blocks in a scattered order.
    for (size_t i = 0; i + 1 < capacity; i++) {
        size_t pick = i * 4099 % capacity;
        is_live[pick] = false;
        backend_flush(&owner, &blocks[pick], 1);
        uint64_t after = granules_without(slab, is_live);
        size_t emptied_count = (size_t)__builtin_popcountll(after & ~before);
        assert_int_equal(slab_emptied_bytes(slab, blocks[pick]),
                         emptied_count << slab_granule_shift(slab));
        before = after;
    }
    backend_flush(&owner, &blocks[(capacity - 1) * 4099 % capacity], 1);
    assert_int_equal(owner.classes[cls].slab_count, 0);
}

static void each_free_tells_the_pages_that_it_emptied(void **state)
{
    (void)state;
    static const class_id classes[] = {3, 14, 40, 64, 65, 67, 70, 75, 82, 90, 96};
    for (size_t i = 0; i < sizeof classes; i++) {
        check_emptied_bytes(classes[i]);
    }
}

// A page that was used again and emptied again counts twice until a purge has looked.
static void a_purge_that_keeps_the_pages_counts_them_anew(void **state)
{
    (void)state;
    struct slab *slab = add_full_slab(CLASS_64);
    size_t expected_bytes = UNIT_BYTES - granule_bytes(slab);
    backend_flush(&owner, blocks, CAPACITY - 1);
    assert_int_equal(slab_refill(&owner, CLASS_64, blocks, CAPACITY - 1), CAPACITY - 1);
    backend_flush(&owner, blocks, CAPACITY - 1);
    assert_int_equal(backend_purge_down_to(&owner, UNIT_BYTES), 0);
    assert_int_equal(owner.emptied_bytes, expected_bytes);
    assert_int_equal(budget_read(&budget.emptied_bytes), expected_bytes);
    assert_int_equal(backend_purge_down_to(&owner, expected_bytes), 0);
    assert_int_equal(backend_purge_down_to(&owner, expected_bytes - 1), expected_bytes);
    assert_int_equal(owner.emptied_bytes, 0);
}

static void a_purge_is_due_once_enough_pages_are_empty(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    uint64_t saved_limit = gates.dirty_limit;
    gates.dirty_limit = 256 << 10;
    assert_false(backend_purge_is_due(&owner));
    size_t slab_count = 0;
    for (; slab_count < 100 && !backend_purge_is_due(&owner); slab_count++) {
        (void)add_full_slab(CLASS_64);
        assert_false(backend_purge_is_due(&owner));
        backend_flush(&owner, blocks, CAPACITY - 1);
    }
    bool is_due = backend_purge_is_due(&owner);
    size_t purged_bytes = backend_purge(&owner);
    bool is_due_still = backend_purge_is_due(&owner);
    gates.dirty_limit = saved_limit;
    assert_true(is_due);
    assert_false(is_due_still);
    // Neither for a trifle nor much too late.
    assert_true(purged_bytes >= 64 << 10);
    assert_true(purged_bytes <= 1 << 20);
}

// As a forked child finds it whose parent was purging in another thread.
static void a_purge_whose_thread_is_gone_is_undone(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    struct slab *slab = add_full_slab(CLASS_64);
    backend_flush(&owner, blocks, CAPACITY - 1);
    owner.is_purging = true;
    slab->pending = 0xff;
    slab_detach(slab);
    void *block = NULL;
    assert_int_equal(slab_refill(&owner, CLASS_64, &block, 1), 0);
    assert_int_equal(backend_purge(&owner), 0);
    backend_purge_forget(&owner);
    assert_false(owner.is_purging);
    assert_int_equal(slab->pending, 0);
    assert_int_equal(slab_refill(&owner, CLASS_64, &block, 1), 1);
    assert_true(backend_purge(&owner) > 0);
}

#define PURGE_TEST(name) cmocka_unit_test_setup_teardown(name, start_empty, release_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PURGE_TEST(a_slab_has_at_most_64_granules_of_whole_pages),
        PURGE_TEST(all_but_the_page_of_the_last_live_block_goes_back),
        PURGE_TEST(purged_pages_read_zero_and_count_again_when_used),
        PURGE_TEST(blocks_over_a_page_border_keep_both_pages),
        PURGE_TEST(a_full_slab_and_a_little_are_not_worth_a_purge),
        PURGE_TEST(a_refused_purge_changes_nothing_and_is_tried_again),
        PURGE_TEST(the_limit_holds_for_purged_pages_too),
        PURGE_TEST(all_resident_blocks_can_be_had_under_a_full_limit_and_no_others),
        PURGE_TEST(a_purged_slab_that_becomes_empty_is_counted_whole),
        PURGE_TEST(each_free_tells_the_pages_that_it_emptied),
        PURGE_TEST(a_purge_that_keeps_the_pages_counts_them_anew),
        PURGE_TEST(a_purge_is_due_once_enough_pages_are_empty),
        PURGE_TEST(a_purge_whose_thread_is_gone_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
