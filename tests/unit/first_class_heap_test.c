// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "thread/heap.h"
#include "unit_check.h"

#include <errno.h>
#include <string.h>

enum {
    BLOCK_COUNT = 600,
    THREAD_COUNT = 4,
};

static struct hak_heap *heap;
static unsigned char *blocks[BLOCK_COUNT];

static struct hak_stats read_stats(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats;
}

static int create(void **state)
{
    (void)state;
    heap = hak_heap_create();
    return heap != NULL ? 0 : -1;
}

static int destroy(void **state)
{
    (void)state;
    hak_heap_destroy(heap);
    return 0;
}

// From 0 bytes over all classes up to large blocks.
static size_t bytes_of(size_t index)
{
    return index * index * index / 400;
}

static uint32_t tag_of(const void *block)
{
    return page_entry_tag(page_map_lookup(block));
}

static void fill_heap(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_heap_malloc(heap, bytes_of(i));
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        assert_true(hak_usable_size(blocks[i]) >= bytes_of(i));
        memset(blocks[i], (int)(i % 251), bytes_of(i));
    }
}

static void its_blocks_are_its_own_and_hold_what_is_written(void **state)
{
    (void)state;
    fill_heap();
    uint32_t tag = tag_of(blocks[0]);
    assert_int_not_equal(tag, thread_heap->owner_tag);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_int_equal(tag_of(blocks[i]), tag);
        assert_true(is_filled_with(blocks[i], (unsigned char)(i % 251), bytes_of(i)));
    }
}

static void destroying_it_gives_every_block_back(void **state)
{
    (void)state;
    size_t live_bytes = read_stats().live_bytes;
    size_t live_blocks = read_stats().live_blocks;
    size_t large_blocks = read_stats().large_blocks;
    fill_heap();
    assert_int_equal(read_stats().live_blocks, live_blocks + BLOCK_COUNT);
    assert_true(read_stats().large_blocks > large_blocks);
    hak_heap_destroy(heap);
    heap = NULL;
    assert_int_equal(read_stats().live_bytes, live_bytes);
    assert_int_equal(read_stats().live_blocks, live_blocks);
    assert_int_equal(read_stats().large_blocks, large_blocks);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_false(hak_owns(blocks[i]));
    }
}

static void destroying_it_leaves_other_heaps_alone(void **state)
{
    (void)state;
    struct hak_heap *other = hak_heap_create();
    unsigned char *kept = hak_heap_malloc(other, 100);
    unsigned char *kept_large = hak_heap_malloc(other, 1 << 20);
    memset(kept, 1, 100);
    memset(kept_large, 2, 1 << 20);
    fill_heap();
    hak_heap_destroy(heap);
    heap = NULL;
    assert_true(hak_owns(kept) && hak_owns(kept_large));
    assert_true(is_filled_with(kept, 1, 100));
    assert_true(is_filled_with(kept_large, 2, 1 << 20));
    hak_heap_destroy(other);
}

static void memory_goes_back_to_the_system_after_the_end(void **state)
{
    (void)state;
    fill_heap();
    size_t live_bytes = read_stats().live_bytes;
    hak_heap_destroy(heap);
    heap = NULL;
    (void)hak_trim(0);
    struct hak_stats stats = read_stats();
    assert_int_equal(stats.dirty_bytes, 0);
    assert_true(stats.committed_bytes < live_bytes);
}

static void free_every_second(void *argument)
{
    size_t first = *(size_t *)argument;
    for (size_t i = first; i < BLOCK_COUNT; i += 2) {
        hak_free(blocks[i]);
    }
}

static void any_thread_may_free_its_blocks(void **state)
{
    (void)state;
    size_t firsts[2] = {0, 1};
    size_t live_bytes = read_stats().live_bytes;
    fill_heap();
    run_in_threads(free_every_second, firsts, sizeof firsts[0], 2);
    assert_int_equal(read_stats().live_bytes, live_bytes);
    assert_int_equal(read_stats().transit_bytes, 0);
}

static void take_and_free(void *argument)
{
    size_t *wrong_count = argument;
    for (size_t i = 0; i < 5000; i++) {
        size_t *block = hak_heap_malloc(heap, sizeof i + i % 3000);
        block[0] = i;
        *wrong_count += tag_of(block) != ((struct heap *)(void *)heap)->owner_tag;
        *wrong_count += block[0] != i;
        hak_free(block);
    }
}

static void any_thread_may_take_its_blocks(void **state)
{
    (void)state;
    size_t wrong_counts[THREAD_COUNT] = {0};
    run_in_threads(take_and_free, wrong_counts, sizeof wrong_counts[0], THREAD_COUNT);
    assert_true(is_filled_with(wrong_counts, 0, sizeof wrong_counts));
}

static void a_block_that_is_resized_stays_in_its_heap(void **state)
{
    (void)state;
    unsigned char *block = hak_heap_malloc(heap, 10);
    uint32_t tag = tag_of(block);
    memset(block, 9, 10);
    for (size_t bytes = 20; bytes < 5000000; bytes = bytes * 3 / 2) {
        block = hak_realloc(block, bytes);
        assert_int_equal(tag_of(block), tag);
        assert_true(is_filled_with(block, 9, 10));
    }
    block = hak_aligned_realloc(block, 4096, 100000);
    assert_int_equal(tag_of(block), tag);
    assert_int_equal((uintptr_t)block % 4096, 0);
    block = hak_realloc(block, 12);
    assert_int_equal(tag_of(block), tag);
    assert_true(is_filled_with(block, 9, 10));
}

static void zeroed_and_aligned_blocks_are_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < BLOCK_COUNT; i += 7) {
        unsigned char *dirt = hak_heap_malloc(heap, bytes_of(i));
        memset(dirt, 0xee, bytes_of(i));
        hak_free(dirt);
        unsigned char *block = hak_heap_calloc(heap, 1, bytes_of(i));
        assert_true(is_filled_with(block, 0, hak_usable_size(block)));
        hak_free(block);
    }
    for (size_t alignment = 1; alignment <= 1 << 21; alignment *= 2) {
        void *block = hak_heap_aligned_alloc(heap, alignment, 100);
        assert_int_equal((uintptr_t)block % alignment, 0);
        assert_int_equal(tag_of(block), ((struct heap *)(void *)heap)->owner_tag);
    }
}

static void what_cannot_be_is_refused_with_errno(void **state)
{
    (void)state;
    errno = 0;
    assert_null(hak_heap_malloc(heap, hidden((size_t)PTRDIFF_MAX + 1)));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_heap_calloc(heap, hidden(SIZE_MAX / 2), 3));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_heap_aligned_alloc(heap, hidden(48), 10));
    assert_int_equal(errno, EINVAL);
    hak_heap_destroy(NULL);
}

static void a_destroyed_heap_is_made_anew(void **state)
{
    (void)state;
    struct hak_heap *first = heap;
    fill_heap();
    hak_heap_destroy(heap);
    heap = hak_heap_create();
    assert_ptr_equal(heap, first);
    fill_heap();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_true(is_filled_with(blocks[i], (unsigned char)(i % 251), bytes_of(i)));
    }
}

#define HEAP_TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HEAP_TEST(its_blocks_are_its_own_and_hold_what_is_written),
        HEAP_TEST(destroying_it_gives_every_block_back),
        HEAP_TEST(destroying_it_leaves_other_heaps_alone),
        HEAP_TEST(memory_goes_back_to_the_system_after_the_end),
        HEAP_TEST(any_thread_may_free_its_blocks),
        HEAP_TEST(any_thread_may_take_its_blocks),
        HEAP_TEST(a_block_that_is_resized_stays_in_its_heap),
        HEAP_TEST(zeroed_and_aligned_blocks_are_what_they_say),
        HEAP_TEST(what_cannot_be_is_refused_with_errno),
        HEAP_TEST(a_destroyed_heap_is_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
