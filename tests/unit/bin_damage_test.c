// What the bins say of a program that breaks the rules: told when a list goes back to the slabs.
// SPDX-License-Identifier: MIT
#include "gates_check.h"
#include "hakmem.h"
#include "thread/bin.h"
#include "unit_check.h"
#include "unit_hardened.h"

#include <string.h>

enum {
    BLOCK_BYTES = 48,
    CLASS_48 = 3,
    BLOCK_COUNT = 8,
};

static unsigned char *blocks[BLOCK_COUNT];

static void free_blocks(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(blocks[i]);
    }
}

static int take_blocks(void **state)
{
    (void)state;
    hak_thread_flush();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(BLOCK_BYTES);
    }
    return 0;
}

static int give_blocks(void **state)
{
    (void)state;
    free_blocks();
    return 0;
}

static void free_twice_in_a_row(void *block)
{
    hak_free(block);
    hak_free(block);
}

static void free_others_in_between(void *block)
{
    hak_free(block);
    hak_free(blocks[1]);
    hak_free(blocks[2]);
    hak_free(block);
    hak_thread_flush();
}

static void free_after_a_flush(void *block)
{
    hak_free(block);
    hak_thread_flush();
    hak_free(block);
    hak_thread_flush();
}

static void a_block_freed_twice_is_named(void **state)
{
    (void)state;
    assert_dies_of("double free", blocks[0], BLOCK_BYTES, free_twice_in_a_row, blocks[0]);
    assert_dies_of("double free", blocks[0], BLOCK_BYTES, free_others_in_between, blocks[0]);
    assert_dies_of("double free", blocks[0], BLOCK_BYTES, free_after_a_flush, blocks[0]);
}

static void write_after_free(void *block)
{
    free_blocks();
    memset(block, 'x', 1);
    hak_thread_flush();
}

static void overflow_into_free_block(void *block)
{
    unsigned char *before = (unsigned char *)block - BLOCK_BYTES;
    free_blocks();
    memset(before, 'x', BLOCK_BYTES + 6);
    hak_thread_flush();
}

static void a_free_block_that_was_written_is_named(void **state)
{
    (void)state;
    assert_dies_damaged(blocks[3], BLOCK_BYTES, write_after_free, blocks[3]);
    assert_dies_damaged(blocks[BLOCK_COUNT - 1], BLOCK_BYTES, write_after_free,
                        blocks[BLOCK_COUNT - 1]);
}

// The block before it lies later in the list, and so it is found first.
static void an_overflow_into_a_free_block_is_found(void **state)
{
    (void)state;
    assert_ptr_equal(blocks[4], blocks[3] + BLOCK_BYTES);
    assert_dies_damaged(blocks[4], BLOCK_BYTES, overflow_into_free_block, blocks[4]);
}

// As if the program had written the encoded end of a list: no address is wrong, only the length.
static void cut_list_short(void *block)
{
    free_blocks();
    ((struct block *)block)->link = link_encode(NULL, thread_heap->link_key);
    hak_thread_flush();
}

static void a_list_that_ends_too_early_is_told(void **state)
{
    (void)state;
    assert_dies_damaged(blocks[3], BLOCK_BYTES, cut_list_short, blocks[3]);
}

// As if a signal handler had taken the list while a malloc of its thread was popping from it.
static void lose_the_list(void *unused)
{
    enum {
        FREE_COUNT = 4096
    };  // more than a list holds
    (void)unused;
    static void *many[FREE_COUNT];
    for (size_t i = 0; i < FREE_COUNT; i++) {
        many[i] = hak_malloc(BLOCK_BYTES);
    }
    for (size_t i = 0; i < FREE_COUNT; i++) {
        if (thread_heap->bins.room[CLASS_48] == 0) {
            thread_heap->bins.head[CLASS_48] = NULL;
        }
        hak_free(many[i]);
    }
}

static void a_list_that_is_gone_is_told(void **state)
{
    (void)state;
    assert_dies(lose_the_list, NULL,
                "hakmem: a list of free blocks lost them all: one was written after it was freed, "
                "or a signal handler called malloc inside malloc");
}

// A link to a block of another class is not believed either.
static void link_to_another_class(void *block)
{
    struct block *other = hak_malloc(100);
    free_blocks();
    ((struct block *)block)->link = link_encode(other, thread_heap->link_key);
    hak_thread_flush();
}

static void a_link_out_of_the_class_is_told(void **state)
{
    (void)state;
    assert_dies_damaged(blocks[3], BLOCK_BYTES, link_to_another_class, blocks[3]);
}

static void free_into_a_block(void *pointer)
{
    hak_free(pointer);
    hak_thread_flush();
}

static void a_pointer_into_a_block_is_told(void **state)
{
    (void)state;
    assert_dies_of("free", blocks[2] + 16, 0, free_into_a_block, blocks[2] + 16);
}

#define DAMAGE_TEST(name) cmocka_unit_test_setup_teardown(name, take_blocks, give_blocks)

int main(void)
{
    skip_if_hardened();
    if (!class_has_bin(CLASS_48)) {
        return skip_program("no bin keeps blocks of 48 bytes");
    }
    const struct CMUnitTest tests[] = {
        DAMAGE_TEST(a_block_freed_twice_is_named),
        DAMAGE_TEST(a_free_block_that_was_written_is_named),
        DAMAGE_TEST(an_overflow_into_a_free_block_is_found),
        DAMAGE_TEST(a_list_that_ends_too_early_is_told),
        DAMAGE_TEST(a_list_that_is_gone_is_told),
        DAMAGE_TEST(a_link_out_of_the_class_is_told),
        DAMAGE_TEST(a_pointer_into_a_block_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
