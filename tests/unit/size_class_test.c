// SPDX-License-Identifier: MIT
#include "region/page_heap.h"
#include "route/size_class.h"
#include "unit_check.h"

// The definition: steps of 16 up to 1024, then quarters of each doubling up to 256 KiB.
static size_t next_class_bytes(size_t bytes)
{
    size_t doubling = 1024;
    while (2 * doubling <= bytes) {
        doubling *= 2;
    }
    return bytes < 1024 ? bytes + 16 : bytes + doubling / 4;
}

static void the_table_is_the_definition(void **state)
{
    (void)state;
    size_t bytes = 16;
    unsigned cls = 1;
    for (; bytes <= CLASSED_BYTES_MOST; bytes = next_class_bytes(bytes), cls++) {
        assert_true(cls < CLASS_COUNT);
        assert_int_equal(size_class_bytes((class_id)cls), bytes);
        assert_int_equal(size_class_bytes((class_id)cls) % 16, 0);
    }
    assert_int_equal(cls, CLASS_COUNT);
    assert_int_equal(size_class_bytes(TINY_CLASS_COUNT - 1), TINY_BYTES_MOST);
    assert_int_equal(size_class_bytes(CLASS_COUNT - 1), CLASSED_BYTES_MOST);
}

static void every_size_gets_the_smallest_class_that_holds_it(void **state)
{
    (void)state;
    unsigned expected = 1;
    for (size_t size = 1; size <= CLASSED_BYTES_MOST; size++) {
        expected += size > size_class_bytes((class_id)expected);
        assert_int_equal(size_class_of(size), expected);
        if (size <= TINY_BYTES_MOST) {
            assert_int_equal(size_class_of_tiny(size), expected);
        }
    }
}

static class_id smallest_aligned_class(size_t size, size_t align_bytes)
{
    for (unsigned cls = 1; cls < CLASS_COUNT && align_bytes <= 65536; cls++) {
        size_t bytes = size_class_bytes((class_id)cls);
        if (bytes >= size && bytes % align_bytes == 0) {
            return (class_id)cls;
        }
    }
    return 0;
}

static void an_aligned_size_gets_the_smallest_class_that_is_a_multiple(void **state)
{
    (void)state;
    for (size_t align_bytes = 1; align_bytes <= 1 << 18; align_bytes *= 2) {
        for (size_t size = 1; size <= CLASSED_BYTES_MOST + 64; size += size < 2048 ? 1 : 61) {
            assert_int_equal(size_class_of_aligned(size, align_bytes),
                             smallest_aligned_class(size, align_bytes));
        }
    }
}

static void a_band_reaches_up_to_a_power_of_two(void **state)
{
    (void)state;
    // C0 (up to 8 bytes) has no class of its own: its blocks are of the class of C1.
    assert_int_equal(size_class_band(1), 1);
    for (unsigned cls = 2; cls < TINY_CLASS_COUNT; cls++) {
        unsigned band = size_class_band((class_id)cls);
        size_t bytes = size_class_bytes((class_id)cls);
        assert_true(band < BAND_COUNT);
        assert_true(bytes <= (size_t)8 << band);
        assert_true(bytes > (size_t)8 << (band - 1));
    }
}

static void the_index_is_the_quotient_for_every_distance_in_a_slab(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t slab_bytes = size_class_slab_units((class_id)cls) * UNIT_BYTES;
        size_t block_bytes = size_class_bytes((class_id)cls);
        size_t wrong_count = 0;
        for (size_t distance = 0; distance < slab_bytes; distance++) {
            wrong_count += size_class_index((class_id)cls, distance) != distance / block_bytes;
        }
        assert_int_equal(wrong_count, 0);
    }
}

// free computes the index of whatever it is given: the distance may be any number of 64 bits.
static void a_distance_below_the_first_block_gets_no_index_of_a_block(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t block_bytes = size_class_bytes((class_id)cls);
        for (size_t below = 1; below <= 4096; below++) {
            size_t distance = 0 - below;
            size_t index = size_class_index((class_id)cls, distance);
            assert_true(index * block_bytes != distance);
        }
    }
}

static void a_slab_has_eight_blocks_or_four_very_big_ones(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t bytes = size_class_bytes((class_id)cls);
        size_t unit_count = size_class_slab_units((class_id)cls);
        size_t least_count = bytes > 65536 ? 4 : 8;
        assert_true(unit_count * UNIT_BYTES >= least_count * bytes);
        assert_true((unit_count - 1) * UNIT_BYTES < least_count * bytes);
        assert_true(unit_count <= SLAB_UNITS_MOST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_definition),
        cmocka_unit_test(every_size_gets_the_smallest_class_that_holds_it),
        cmocka_unit_test(an_aligned_size_gets_the_smallest_class_that_is_a_multiple),
        cmocka_unit_test(a_band_reaches_up_to_a_power_of_two),
        cmocka_unit_test(the_index_is_the_quotient_for_every_distance_in_a_slab),
        cmocka_unit_test(a_distance_below_the_first_block_gets_no_index_of_a_block),
        cmocka_unit_test(a_slab_has_eight_blocks_or_four_very_big_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
