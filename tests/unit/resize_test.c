// SPDX-License-Identifier: MIT
#include "base/bits.h"
#include "hakmem.h"
#include "os_refusal.h"
#include "policy/gates.h"
#include "route/size_class.h"
#include "unit_check.h"
#include "unit_hardened.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const size_t sizes[] = {1,      15,     16,     17,      48,     100,    128,
                               129,    200,    1000,   1024,    1025,   3000,   10000,
                               65535,  65536,  65537,  131072,  200000, 262143, 262144,
                               262145, 300000, 524288, 1048577, 5000000};

enum {
    SIZE_COUNT = sizeof sizes / sizeof sizes[0],
};

static int end_refusals(void **state)
{
    (void)state;
    os_refusal_end();
    return 0;
}

enum {
    STEP = 61  // bytes from one that is looked at to the next
};

// Writes bytes that say where they are, so that a part of another place shows.
static void number(unsigned char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += STEP) {
        block[i] = (unsigned char)(i * 167 + (i >> 8));
    }
}

static bool is_numbered(const unsigned char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += STEP) {
        if (block[i] != (unsigned char)(i * 167 + (i >> 8))) {
            return false;
        }
    }
    return true;
}

static void the_content_goes_along_from_every_size_to_every_size(void **state)
{
    (void)state;
    for (size_t from = 0; from < SIZE_COUNT; from++) {
        for (size_t to = 0; to < SIZE_COUNT; to++) {
            unsigned char *block = hak_malloc(sizes[from]);
            number(block, sizes[from]);
            block = hak_realloc(block, sizes[to]);
            assert_non_null(block);
            assert_true(hak_usable_size(block) >= sizes[to]);
            assert_true(is_numbered(block, min_size(sizes[from], sizes[to])));
            number(block, sizes[to]);
            hak_free(block);
        }
    }
}

static void an_aligned_block_stays_aligned_in_every_direction(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 4) {
        unsigned char *block = hak_aligned_alloc(alignment, sizes[0]);
        number(block, sizes[0]);
        size_t before = sizes[0];
        for (size_t i = 1; i < 3 * SIZE_COUNT; i++) {
            size_t bytes = sizes[i * 11 % SIZE_COUNT];
            block = hak_aligned_realloc(block, alignment, bytes);
            assert_int_equal((uintptr_t)block % alignment, 0);
            assert_true(is_numbered(block, min_size(before, bytes)));
            number(block, bytes);
            before = bytes;
        }
        hak_free(block);
    }
}

static void a_block_that_fits_stays_where_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        unsigned char *block = hak_malloc(sizes[i]);
        size_t usable_bytes = hak_usable_size(block);
        assert_ptr_equal(hak_realloc(block, usable_bytes), block);
        assert_ptr_equal(hak_realloc(block, usable_bytes - 1 + (usable_bytes == 1)), block);
        hak_free(block);
    }
}

// Shrinking must give memory back, or a program that trims its buffers holds them whole.
static void a_shrunk_block_is_at_most_twice_as_long_as_needed(void **state)
{
    (void)state;
    for (size_t from = 0; from < SIZE_COUNT; from++) {
        for (size_t to = 0; to < from; to++) {
            unsigned char *block = hak_realloc(hak_malloc(sizes[from]), sizes[to]);
            size_t usable_bytes = hak_usable_size(block);
            assert_true(usable_bytes <= max_size(2 * sizes[to], 128) ||
                        usable_bytes <= hak_good_size(sizes[to]));
            hak_free(block);
        }
    }
}

static void no_block_and_no_bytes_are_malloc_and_free(void **state)
{
    (void)state;
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    size_t live_blocks = stats.live_blocks;
    void *block = hak_realloc(NULL, 100);
    assert_non_null(block);
    assert_null(hak_realloc(block, 0));
    block = hak_realloc(NULL, 0);
    assert_non_null(block);
    hak_free(block);
    block = hak_aligned_realloc(NULL, 512, 10);
    assert_int_equal((uintptr_t)block % 512, 0);
    assert_null(hak_aligned_realloc(block, 512, 0));
    assert_int_equal(hak_stats_read(&stats), 0);
    assert_int_equal(stats.live_blocks, live_blocks);
}

static void what_is_too_long_leaves_the_block_alone(void **state)
{
    (void)state;
    unsigned char *block = hak_malloc(300);
    number(block, 300);
    errno = 0;
    assert_null(hak_realloc(block, hidden((size_t)PTRDIFF_MAX + 1)));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_reallocarray(block, hidden(SIZE_MAX / 2), 4));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(hak_realloc(block, (size_t)1 << 60));
    assert_int_equal(errno, ENOMEM);
    assert_true(is_numbered(block, 300));
    hak_free(block);
}

// As for a block on part of which the program has used mprotect or mlock.
static void a_large_block_whose_pages_cannot_be_moved_is_copied(void **state)
{
    (void)state;
    unsigned char *block = hak_malloc(300000);
    number(block, 300000);
    os_refusal.is_resize_refused = true;
    unsigned char *grown = hak_realloc(block, 600000);
    unsigned char *shrunk = hak_realloc(grown, 262145);
    os_refusal_end();
    assert_non_null(grown);
    assert_ptr_equal(shrunk, grown);
    assert_true(is_numbered(grown, 262145));
    hak_free(grown);
}

// A race detector keeps several bytes of its own for each of the program's; an emulator has its own too.
#ifdef __SANITIZE_THREAD__
static const bool is_shadowed = true;
#else
static const bool is_shadowed = false;
#endif

// The most that was resident since the last call, in bytes.
static size_t take_peak_rss(void)
{
    char line[128];
    size_t peak_kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    assert_non_null(status);
    assert_non_null(clear);
    while (fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "VmHWM: %zu", &peak_kib);
    }
    (void)fputs("5", clear);
    (void)fclose(clear);
    (void)fclose(status);
    return peak_kib << 10;
}

// It grows in place or its pages are moved: a copy would hold both blocks for a while.
static void a_large_block_keeps_its_pages_when_it_grows(void **state)
{
    (void)state;
    enum {
        LAST_BYTES = 64 << 20
    };
    if (is_shadowed || is_emulated()) {
        skip();
    }
    unsigned char *block = hak_malloc(1 << 20);
    (void)hak_trim(0);
    (void)take_peak_rss();
    size_t before_bytes = take_peak_rss();
    for (size_t bytes = 2 << 20; bytes <= LAST_BYTES; bytes += 2 << 20) {
        block = hak_realloc(block, bytes);
        number(block, bytes);
    }
    assert_true(is_numbered(block, LAST_BYTES));
    size_t peak_bytes = take_peak_rss();
    assert_in_range(peak_bytes, 0, before_bytes + LAST_BYTES / 100 * 110 + gates.dirty_limit);
    hak_free(block);
}

static void the_tail_of_a_zeroed_resize_is_zero(void **state)
{
    (void)state;
    for (size_t from = 0; from < SIZE_COUNT; from += 3) {
        for (size_t to = 0; to < SIZE_COUNT; to += 2) {
            unsigned char *block = hak_malloc(sizes[from]);
            memset(block, 0x5a, hak_usable_size(block));
            block = hak_rezalloc(block, sizes[from], sizes[to]);
            size_t kept_bytes = min_size(sizes[from], sizes[to]);
            assert_true(is_filled_with(block, 0x5a, kept_bytes));
            assert_true(is_filled_with(block + kept_bytes, 0, hak_usable_size(block) - kept_bytes));
            hak_free(block);
        }
    }
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_content_goes_along_from_every_size_to_every_size),
        cmocka_unit_test(an_aligned_block_stays_aligned_in_every_direction),
        cmocka_unit_test(a_block_that_fits_stays_where_it_is),
        cmocka_unit_test(a_shrunk_block_is_at_most_twice_as_long_as_needed),
        cmocka_unit_test(no_block_and_no_bytes_are_malloc_and_free),
        cmocka_unit_test(what_is_too_long_leaves_the_block_alone),
        cmocka_unit_test_setup(a_large_block_whose_pages_cannot_be_moved_is_copied, end_refusals),
        cmocka_unit_test(a_large_block_keeps_its_pages_when_it_grows),
        cmocka_unit_test(the_tail_of_a_zeroed_resize_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
