// A hardened process, whatever the environment says.
// SPDX-License-Identifier: MIT
#include "front/hardened.h"

#include "bench_profile.h"
#include "hakmem.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "thread/quarantine.h"
#include "unit_check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 2000,
};

static void *blocks[BLOCK_COUNT];

static struct hak_stats stats_now(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats;
}

static void a_block_is_as_long_as_asked(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 2000000; bytes += bytes / 9 + 1) {
        unsigned char *block = hak_malloc(bytes);
        assert_int_equal(hak_usable_size(block), bytes);
        assert_int_equal(hak_good_size(bytes), bytes);
        memset(block, 0xee, bytes);
        block = hak_realloc(block, bytes + bytes / 3 + 1);
        assert_int_equal(hak_usable_size(block), bytes + bytes / 3 + 1);
        assert_true(is_filled_with(block, 0xee, bytes));
        hak_free_sized(block, bytes + bytes / 3 + 1);
    }
}

static void what_was_freed_is_zero(void **state)
{
    (void)state;
    for (size_t bytes = 16; bytes < 100000; bytes *= 3) {
        unsigned char *block = hak_malloc(bytes);
        memset(block, 0xee, bytes);
        hak_free(block);
        // Its first word may link it.
        volatile const unsigned char *freed = block;
        for (size_t i = 8; i < bytes; i++) {
            assert_int_equal(freed[i], 0);
        }
    }
}

static void a_freed_block_waits(void **state)
{
    (void)state;
    void *block = hak_malloc(200);
    hak_free(block);
    for (size_t i = 0; i < 2; i++) {
        void *next = hak_malloc(200);
        assert_ptr_not_equal(next, block);
        blocks[i] = next;
    }
    hak_batch_free(blocks, 2);
}

// By the share of pairs that lie one after the other.
static void blocks_come_in_no_order(void **state)
{
    (void)state;
    size_t in_order_count = 0;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(100);
        in_order_count += i != 0 && (char *)blocks[i] - (char *)blocks[i - 1] == 112;
    }
    assert_in_range(in_order_count, 0, BLOCK_COUNT / 10);
    hak_batch_free(blocks, BLOCK_COUNT);
}

static void what_waits_is_free(void **state)
{
    (void)state;
    hak_thread_flush();
    struct hak_stats before = stats_now();
    for (size_t i = 0; i < 100; i++) {
        blocks[i] = hak_malloc(300);
    }
    hak_batch_free(blocks, 100);
    assert_int_equal(stats_now().live_blocks, before.live_blocks);
    assert_true(stats_now().bin_bytes > before.bin_bytes);
    hak_thread_flush();
    assert_int_equal(stats_now().bin_bytes, 0);
    assert_int_equal(stats_now().live_blocks, before.live_blocks);
}

static void a_first_class_heap_checks_too(void **state)
{
    (void)state;
    struct hak_heap *heap = hak_heap_create();
    void *block = hak_heap_malloc(heap, 60);
    void *large = hak_heap_malloc(heap, 600000);
    assert_int_equal(hak_usable_size(block), 60);
    assert_int_equal(hak_usable_size(large), 600000);
    hak_free_sized(hak_heap_malloc(heap, 0), 0);
    hak_free(hak_heap_calloc(heap, 10, 10));
    hak_heap_destroy(heap);
}

static void free_it(void *block)
{
    hak_free(block);
}

static void free_as_50(void *block)
{
    hak_free_sized(block, 50);
}

static void every_fault_is_named(void **state)
{
    (void)state;
    unsigned char *block = hak_malloc(60);
    struct hak_heap *heap = hak_heap_create();
    unsigned char *volatile shared = hak_heap_malloc(heap, 60);  // its length is not to be known
    void *neighbour = hak_heap_malloc(heap, 60);                 // keeps the slab in use
    assert_non_null(neighbour);
    assert_dies_of("free", block + 16, 0, free_it, block + 16);
    char line[200];
    (void)snprintf(line, sizeof line, "hakmem: free with size 50 of %p, a 60-byte block",
                   (void *)block);
    assert_dies(free_as_50, block, line);
    shared[hidden(60)] ^= 1;
    assert_dies_of("overflow", shared, 60, free_it, shared);
    shared[hidden(60)] ^= 1;
    hak_free(block);
    hak_free(shared);
    assert_dies_of("double free", block, 60, free_it, block);
    assert_dies_of("double free", shared, 60, free_it, shared);
    hak_heap_destroy(heap);
}

static void a_large_block_is_counted_while_it_changes(void **state)
{
    (void)state;
    size_t mapped_bytes = 0;
    // What the first round leaves behind serves the second.
    for (int round = 0; round < 2; round++) {
        mapped_bytes = stats_now().mapped_bytes;
        void *block = hak_malloc(3 << 20);
        size_t former_bytes = stats_now().mapped_bytes;
        block = hak_realloc(block, 1 << 20);
        assert_int_equal(stats_now().mapped_bytes, former_bytes - (2 << 20));
        hak_free(hak_realloc(block, 5 << 20));
    }
    assert_int_equal(stats_now().mapped_bytes, mapped_bytes);
}

static void a_large_block_lies_between_guards(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    for (size_t bytes = 300000; bytes < 80000000; bytes *= 5) {
        char *block = hak_malloc(bytes);
        char *end = block + (bytes + 15) / 16 * 16;
        assert_faults(end);
        assert_faults(block - page_bytes);
        block = hak_realloc(block, 2 * bytes);
        block[2 * bytes - 1] = 1;
        block = hak_realloc(block, bytes + bytes / 2);
        assert_faults(block - page_bytes);
        hak_free(block);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    if (bench_setenv_default("HAKMEM_HARDENED", "on")) {
        bench_start_again(argv);
    }
    if (!gates.hardened) {
        return skip_program("the process is not hardened");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_in_no_order),  // first: while its bin can still grow
        cmocka_unit_test(a_block_is_as_long_as_asked),
        cmocka_unit_test(what_was_freed_is_zero),
        cmocka_unit_test(a_freed_block_waits),
        cmocka_unit_test(what_waits_is_free),
        cmocka_unit_test(a_first_class_heap_checks_too),
        cmocka_unit_test(every_fault_is_named),
        cmocka_unit_test(a_large_block_is_counted_while_it_changes),
        cmocka_unit_test(a_large_block_lies_between_guards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
