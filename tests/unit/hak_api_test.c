// SPDX-License-Identifier: MIT
#include "hakmem.h"

#include "base/bits.h"
#include "route/size_class.h"
#include "unit_check.h"

#include <errno.h>
#include <string.h>

enum {
    BLOCK_COUNT = 300,
    FOREIGN_ERRNO = 99,
};

static void every_size_gets_a_block_of_its_good_size(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 600000; bytes += bytes < 2100 ? 1 : bytes / 37) {
        unsigned char *block = hak_malloc(bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        assert_true(hak_good_size(bytes) >= bytes);
        assert_true(hak_usable_size(block) >= hak_good_size(bytes));
        assert_true(bytes > CLASSED_BYTES_MOST || hak_usable_size(block) == hak_good_size(bytes));
        memset(block, 0xee, hak_usable_size(block));
        hak_free(block);
    }
    assert_int_equal(hak_usable_size(NULL), 0);
    assert_int_equal(hak_good_size((size_t)PTRDIFF_MAX + 1), 0);
}

static void live_blocks_do_not_overlap(void **state)
{
    (void)state;
    unsigned char *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(i * i * 3);
        memset(blocks[i], (int)(i % 250), hak_usable_size(blocks[i]));
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_true(
            is_filled_with(blocks[i], (unsigned char)(i % 250), hak_usable_size(blocks[i])));
        hak_free(blocks[i]);
    }
}

static void a_zeroed_block_is_zero_up_to_its_usable_size(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 600000; bytes += bytes / 5 + 1) {
        unsigned char *dirt = hak_malloc(bytes);
        memset(dirt, 0xee, hak_usable_size(dirt));
        hak_free(dirt);
        unsigned char *block = hak_calloc(bytes, 1);
        assert_true(is_filled_with(block, 0, hak_usable_size(block)));
        hak_free(block);
    }
}

static void every_alignment_is_kept_for_every_size(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 1 << 22; alignment *= 2) {
        for (size_t bytes = 0; bytes < 500000; bytes += bytes * 2 + 7) {
            void *blocks[3];
            for (size_t i = 0; i < 3; i++) {
                blocks[i] = hak_aligned_alloc(alignment, bytes);
                assert_non_null(blocks[i]);
                assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
                assert_true(hak_usable_size(blocks[i]) >= bytes);
            }
            hak_batch_free(blocks, 3);
        }
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    void *block = &block;
    errno = 0;
    assert_null(hak_malloc(hidden((size_t)PTRDIFF_MAX + 1)));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_calloc(hidden((size_t)1 << 40), hidden((size_t)1 << 40)));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_aligned_alloc(hidden(24), 10));
    assert_int_equal(errno, EINVAL);
    errno = FOREIGN_ERRNO;
    assert_int_equal(hak_posix_memalign(&block, 4, 10), EINVAL);
    assert_int_equal(hak_posix_memalign(&block, 16, hidden((size_t)PTRDIFF_MAX + 1)), ENOMEM);
    assert_ptr_equal(block, &block);
    assert_int_equal(errno, FOREIGN_ERRNO);
}

static void freeing_leaves_errno_alone(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 5000, 300000, 40 << 20};
    for (size_t i = 0; i < 4; i++) {
        void *block = hak_malloc(sizes[i]);
        errno = FOREIGN_ERRNO;
        hak_free_sized(block, sizes[i]);
        assert_int_equal(errno, FOREIGN_ERRNO);
    }
    hak_free(NULL);
    hak_free_sized(NULL, 0);
    hak_free_aligned_sized(NULL, 16, 0);
    hak_thread_flush();
    (void)hak_trim(0);
    assert_int_equal(errno, FOREIGN_ERRNO);
}

static void a_batch_is_many_single_ones(void **state)
{
    (void)state;
    void *blocks[BLOCK_COUNT];
    assert_int_equal(hak_batch_alloc(100, blocks, BLOCK_COUNT), BLOCK_COUNT);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        memset(blocks[i], (int)(i % 250), 100);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        assert_true(is_filled_with(blocks[i], (unsigned char)(i % 250), 100));
    }
    hak_free(blocks[7]);
    blocks[7] = NULL;
    hak_batch_free(blocks, BLOCK_COUNT);
    assert_int_equal(hak_batch_alloc(100, blocks, 0), 0);
}

static void a_zeroed_resize_refuses_a_wrong_old_size(void **state)
{
    (void)state;
    void *block = hak_malloc(100);
    errno = 0;
    assert_null(hak_rezalloc(block, hak_usable_size(block) + 1, 200));
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_null(hak_recalloc(block, 1, hidden(SIZE_MAX / 2), hidden(3)));
    assert_int_equal(errno, ENOMEM);
    hak_free(block);
    unsigned char *zeroed = hak_recalloc(NULL, 0, 10, 10);
    assert_true(is_filled_with(zeroed, 0, 100));
    hak_free(zeroed);
}

static void only_what_is_served_here_is_owned(void **state)
{
    (void)state;
    int local = 0;
    unsigned char *small = hak_malloc(50);
    unsigned char *large = hak_malloc(300000);
    assert_true(hak_owns(small) && hak_owns(small + 10) && hak_owns(large));
    assert_false(hak_owns(large + 16));
    assert_false(hak_owns(&local) || hak_owns(NULL) || hak_owns((void *)UINTPTR_MAX));
    hak_free(large);
    assert_false(hak_owns(large));
    hak_free(small);
}

static void gates_are_read_and_changed_by_name(void **state)
{
    (void)state;
    char value[32];
    char saved[32];
    assert_int_equal(hak_ctl_get("HAKMEM_DIRTY_LIMIT", saved, sizeof saved), 0);
    assert_int_equal(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "7MiB"), 0);
    assert_int_equal(hak_ctl_get("HAKMEM_DIRTY_LIMIT", value, sizeof value), 0);
    assert_string_equal(value, "7MiB");
    assert_int_equal(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "seven"), EINVAL);
    assert_int_equal(hak_ctl_set("HAKMEM_BIN_BYTES", "1MiB"), EPERM);
    assert_int_equal(hak_ctl_set("HAKMEM_NOTHING", "1"), ENOENT);
    assert_int_equal(hak_ctl_get("HAKMEM_NOTHING", value, sizeof value), ENOENT);
    assert_int_equal(hak_ctl_get("HAKMEM_DIRTY_LIMIT", value, 4), ERANGE);
    assert_int_equal(hak_ctl_set("HAKMEM_DIRTY_LIMIT", saved), 0);
    assert_string_equal(hak_version(), HAK_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_gets_a_block_of_its_good_size),
        cmocka_unit_test(live_blocks_do_not_overlap),
        cmocka_unit_test(a_zeroed_block_is_zero_up_to_its_usable_size),
        cmocka_unit_test(every_alignment_is_kept_for_every_size),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(freeing_leaves_errno_alone),
        cmocka_unit_test(a_batch_is_many_single_ones),
        cmocka_unit_test(a_zeroed_resize_refuses_a_wrong_old_size),
        cmocka_unit_test(only_what_is_served_here_is_owned),
        cmocka_unit_test(gates_are_read_and_changed_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
