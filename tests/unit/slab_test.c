// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "backend/slab.h"
#include "os_refusal.h"
#include "region/page_heap.h"
#include "stats/budget.h"
#include "unit_check.h"

#include <string.h>

enum {
    CLASS_48 = 3,
    BLOCK_BYTES = 48,
    CAPACITY = UNIT_BYTES / BLOCK_BYTES,
    TAG = 7,
};

static struct slab_owner owner;
static struct lock owner_lock;
static struct slab_owner other;
static struct lock other_lock;
static void *blocks[UNIT_BYTES / TINY_STEP_BYTES];

static int start_empty(void **state)
{
    (void)state;
    os_refusal_end();
    owner = (struct slab_owner){.lock = &owner_lock};
    other = (struct slab_owner){.lock = &other_lock};
    owner.tag = page_entry_make(TAG, 0);
    other.tag = page_entry_make(TAG + 1, 0);
    return 0;
}

static int release_all(void **state)
{
    (void)state;
    slab_release_all(&owner);
    slab_release_all(&other);
    return 0;
}

// A slab of the class with `taken` blocks taken, in blocks[0 .. taken).
static struct slab *add_slab(class_id cls, size_t taken)
{
    assert_true(slab_add(&owner, cls, BACKEND_LEGACY));
    struct slab *slab = owner.classes[cls].list[SLAB_MOSTLY_FREE];
    assert_int_equal(slab_refill(&owner, cls, blocks, taken), taken);
    return slab;
}

static void refill_takes_blocks_in_address_order(void **state)
{
    (void)state;
    struct slab *slab = add_slab(CLASS_48, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal((uintptr_t)blocks[i], slab->first + i * BLOCK_BYTES);
    }
    assert_int_equal(slab_refill(&owner, CLASS_48, blocks, 1), 1);
    assert_int_equal((uintptr_t)blocks[0], slab->first + 100 * BLOCK_BYTES);
}

static void a_hole_is_filled_before_what_lies_behind(void **state)
{
    (void)state;
    (void)add_slab(CLASS_48, 500);
    void *low = blocks[70];
    void *high = blocks[300];
    backend_flush(&owner, &high, 1);
    backend_flush(&owner, &low, 1);
    void *again[2];
    assert_int_equal(slab_refill(&owner, CLASS_48, again, 2), 2);
    assert_ptr_equal(again[0], low);
    assert_ptr_equal(again[1], high);
}

static void the_fullest_slab_is_used_first(void **state)
{
    (void)state;
    struct slab *fuller = add_slab(CLASS_48, CAPACITY);
    void *freed[CAPACITY / 8];
    memcpy(freed, blocks, sizeof freed);
    struct slab *emptier = add_slab(CLASS_48, 1);
    backend_flush(&owner, freed, CAPACITY / 8);
    assert_int_equal(slab_refill(&owner, CLASS_48, blocks, CAPACITY / 8), CAPACITY / 8);
    assert_int_equal(fuller->free_count, 0);
    assert_int_equal(emptier->free_count, CAPACITY - 1);
    assert_int_equal(slab_refill(&owner, CLASS_48, blocks, 1), 1);
    assert_ptr_equal(slab_of(blocks[0]), emptier);
}

static void a_slab_is_listed_by_how_full_it_is(void **state)
{
    (void)state;
    struct slab *slab = add_slab(CLASS_48, CAPACITY);
    assert_int_equal(slab->list, SLAB_FULL);
    for (size_t free_count = 1; free_count < CAPACITY; free_count++) {
        backend_flush(&owner, &blocks[free_count], 1);
        enum slab_list expected = free_count * 4 <= CAPACITY   ? SLAB_MOSTLY_USED
                                  : free_count * 2 <= CAPACITY ? SLAB_HALF_USED
                                                               : SLAB_MOSTLY_FREE;
        assert_int_equal(slab->list, expected);
        assert_ptr_equal(owner.classes[CLASS_48].list[expected], slab);
    }
}

static void one_refill_takes_from_as_many_slabs_as_it_needs(void **state)
{
    (void)state;
    (void)add_slab(CLASS_48, 0);
    (void)add_slab(CLASS_48, 0);
    assert_int_equal(slab_refill(&owner, CLASS_48, blocks, 2 * CAPACITY + 5), 2 * CAPACITY);
    assert_int_equal(slab_refill(&owner, CLASS_48, blocks, 1), 0);
    assert_int_equal(owner.classes[CLASS_48].free_count, 0);
    assert_int_equal(owner.taken_bytes, 2 * CAPACITY * BLOCK_BYTES);
}

// For every class, whatever the colour: blocks are apart, inside, named by the map, aligned.
static void check_slab(class_id cls)
{
    size_t block_bytes = size_class_bytes(cls);
    size_t align_bytes = min_size(largest_power_dividing(block_bytes), 4096);
    struct slab *slab = add_slab(cls, 0);
    size_t capacity = slab->capacity;
    assert_int_equal(slab_refill(&owner, cls, blocks, capacity + 1), capacity);
    assert_true(capacity >= (block_bytes > UNIT_BYTES ? 4 : 8));
    uintptr_t end = slab->span.base + (uintptr_t)slab->span.unit_count * UNIT_BYTES;
    for (size_t i = 0; i < capacity; i++) {
        uintptr_t start = (uintptr_t)blocks[i];
        assert_int_equal(start, slab->first + i * block_bytes);
        assert_int_equal(start % align_bytes, 0);
        assert_true(start >= slab->span.base && start + block_bytes <= end);
        assert_int_equal(page_map_entry(start), page_entry_make(TAG, cls));
        assert_ptr_equal(slab_of(blocks[i]), slab);
        assert_false(slab_block_is_free(blocks[i]));
    }
    backend_flush(&owner, blocks, capacity);
}

static void every_class_is_cut_into_whole_aligned_blocks(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        for (int colour = 0; colour < 3; colour++) {
            check_slab((class_id)cls);
        }
        assert_int_equal(owner.classes[cls].slab_count, 0);
    }
    assert_int_equal(owner.taken_bytes, 0);
}

static void successive_slabs_begin_at_different_cache_lines(void **state)
{
    (void)state;
    class_id cls = size_class_of(224);  // 128 bytes are left over
    uintptr_t first = add_slab(cls, 0)->first % UNIT_BYTES;
    uintptr_t second = add_slab(cls, 0)->first % UNIT_BYTES;
    assert_int_not_equal(first, second);
}

static void an_empty_slab_goes_back_to_the_page_heap(void **state)
{
    (void)state;
    (void)page_heap_purge(0);
    size_t dirty_bytes = page_heap_dirty_bytes();
    (void)add_slab(CLASS_48, CAPACITY);
    backend_flush(&owner, blocks, CAPACITY - 1);
    assert_int_equal(owner.classes[CLASS_48].slab_count, 1);
    backend_flush(&owner, &blocks[CAPACITY - 1], 1);
    assert_int_equal(owner.classes[CLASS_48].slab_count, 0);
    assert_int_equal(owner.classes[CLASS_48].block_count, 0);
    assert_int_equal(owner.classes[CLASS_48].free_count, 0);
    assert_int_equal(owner.taken_bytes, 0);
    assert_int_equal(page_map_lookup(blocks[0]), 0);
    assert_int_equal(page_heap_dirty_bytes(), dirty_bytes + UNIT_BYTES);
}

static void a_long_bitmap_stays_with_its_unit(void **state)
{
    (void)state;
    struct slab *slab = add_slab(1, UNIT_BYTES / 16);
    uint64_t *store = slab->span.bitmap_store;
    assert_non_null(store);
    backend_flush(&owner, blocks, UNIT_BYTES / 16);
    size_t record_bytes = budget_read(&budget.record_bytes);
    struct slab *again = add_slab(1, UNIT_BYTES / 16);
    assert_ptr_equal(again, slab);
    assert_ptr_equal(again->bitmap, store);
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes);
}

static void where_memory_is_out_no_slab_is_added(void **state)
{
    (void)state;
    budget_add(&budget.limit_bytes, 1);
    (void)page_heap_purge(0);
    assert_false(slab_add(&owner, CLASS_48, BACKEND_LEGACY));
    budget_subtract(&budget.limit_bytes, 1);
    assert_int_equal(owner.classes[CLASS_48].slab_count, 0);
    assert_true(slab_add(&owner, CLASS_48, BACKEND_LEGACY));
}

static void flush_one(void *block)
{
    backend_flush(&owner, &block, 1);
}

static void a_block_that_is_free_already_ends_the_process(void **state)
{
    (void)state;
    struct slab *slab = add_slab(CLASS_48, 10);
    void *never_taken = (void *)(slab->first + 10 * BLOCK_BYTES);
    backend_flush(&owner, &blocks[4], 1);
    assert_true(slab_block_is_free(blocks[4]));
    assert_dies_of("double free", blocks[4], BLOCK_BYTES, flush_one, blocks[4]);
    assert_dies_of("double free", never_taken, BLOCK_BYTES, flush_one, never_taken);
}

static void a_pointer_into_a_block_ends_the_process(void **state)
{
    (void)state;
    struct slab *slab = add_slab(CLASS_48, 10);
    char *misaligned = (char *)blocks[4] + 16;
    char *behind_the_last = (char *)(slab->first + CAPACITY * BLOCK_BYTES);
    assert_dies_of("free", misaligned, 0, flush_one, misaligned);
    assert_dies_of("free", misaligned + 1, 0, flush_one, misaligned + 1);
    assert_dies_of("free", behind_the_last, 0, flush_one, behind_the_last);
}

static void die_unknown(void *pointer)
{
    backend_die_unknown(pointer);
}

static void a_block_of_a_slab_that_is_gone_is_told_as_freed_twice(void **state)
{
    (void)state;
    (void)add_slab(CLASS_48, 10);
    backend_flush(&owner, blocks, 10);
    char *misaligned = (char *)blocks[4] + 8;
    assert_dies_of("double free", blocks[4], BLOCK_BYTES, die_unknown, blocks[4]);
    assert_dies_of("free", misaligned, 0, die_unknown, misaligned);
    assert_dies_of("free", &owner, 0, die_unknown, &owner);
    assert_dies_of("free", (void *)UINTPTR_MAX, 0, die_unknown, (void *)UINTPTR_MAX);
}

static void a_moved_slab_belongs_to_the_other_owner(void **state)
{
    (void)state;
    (void)add_slab(CLASS_48, 40);
    assert_true(slab_move(&owner, &other, CLASS_48));
    assert_int_equal(page_map_lookup(blocks[0]), page_entry_make(TAG + 1, CLASS_48));
    assert_int_equal(owner.classes[CLASS_48].slab_count, 0);
    assert_int_equal(owner.taken_bytes, 0);
    assert_int_equal(other.classes[CLASS_48].slab_count, 1);
    assert_int_equal(other.classes[CLASS_48].free_count, CAPACITY - 40);
    assert_int_equal(other.taken_bytes, 40 * BLOCK_BYTES);
    void *next = NULL;
    assert_int_equal(slab_refill(&owner, CLASS_48, &next, 1), 0);
    assert_int_equal(slab_refill(&other, CLASS_48, &next, 1), 1);
    assert_ptr_equal(next, (char *)blocks[39] + BLOCK_BYTES);
    backend_flush(&other, &next, 1);
    backend_flush(&other, blocks, 40);
    assert_int_equal(other.classes[CLASS_48].slab_count, 0);
}

static void a_full_slab_is_not_moved(void **state)
{
    (void)state;
    assert_false(slab_move(&owner, &other, CLASS_48));
    (void)add_slab(CLASS_48, CAPACITY);
    assert_false(slab_move(&owner, &other, CLASS_48));
    assert_int_equal(page_map_lookup(blocks[0]), page_entry_make(TAG, CLASS_48));
    assert_false(slab_move(&owner, &other, CLASS_48 + 1));
}

static void releasing_all_takes_live_blocks_too(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls += 7) {
        (void)add_slab((class_id)cls, 4);
        (void)add_slab((class_id)cls, 4);
    }
    assert_true(slab_refill(&owner, 8, blocks, CAPACITY) > 0);
    slab_release_all(&owner);
    assert_int_equal(owner.taken_bytes, 0);
    assert_int_equal(page_map_lookup(blocks[0]), 0);
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        assert_int_equal(owner.classes[cls].slab_count, 0);
        assert_int_equal(owner.classes[cls].free_count, 0);
    }
}

#define SLAB_TEST(name) cmocka_unit_test_setup_teardown(name, start_empty, release_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SLAB_TEST(refill_takes_blocks_in_address_order),
        SLAB_TEST(a_hole_is_filled_before_what_lies_behind),
        SLAB_TEST(the_fullest_slab_is_used_first),
        SLAB_TEST(a_slab_is_listed_by_how_full_it_is),
        SLAB_TEST(one_refill_takes_from_as_many_slabs_as_it_needs),
        SLAB_TEST(every_class_is_cut_into_whole_aligned_blocks),
        SLAB_TEST(successive_slabs_begin_at_different_cache_lines),
        SLAB_TEST(an_empty_slab_goes_back_to_the_page_heap),
        SLAB_TEST(a_long_bitmap_stays_with_its_unit),
        SLAB_TEST(where_memory_is_out_no_slab_is_added),
        SLAB_TEST(a_block_that_is_free_already_ends_the_process),
        SLAB_TEST(a_pointer_into_a_block_ends_the_process),
        SLAB_TEST(a_block_of_a_slab_that_is_gone_is_told_as_freed_twice),
        SLAB_TEST(a_moved_slab_belongs_to_the_other_owner),
        SLAB_TEST(a_full_slab_is_not_moved),
        SLAB_TEST(releasing_all_takes_live_blocks_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
