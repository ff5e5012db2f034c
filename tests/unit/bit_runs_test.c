// SPDX-License-Identifier: MIT
#include "base/bit_runs.h"
#include "base/bits.h"
#include "unit_check.h"

#include <string.h>

enum {
    WORD_COUNT = 4,
    BIT_COUNT = 64 * WORD_COUNT,
};

static bool bit(const uint64_t *words, size_t index)
{
    return (words[index / 64] >> (index % 64) & 1) != 0;
}

static void bits_between_are_set_and_no_others(void **state)
{
    (void)state;
    for (size_t low = 0; low < 64; low++) {
        for (size_t high = low; high < 64; high++) {
            uint64_t word = bits_between(low, high);
            for (size_t i = 0; i < 64; i++) {
                assert_int_equal(bit(&word, i), i >= low && i <= high);
            }
        }
    }
}

static void the_lowest_run_ends_where_a_clear_bit_follows(void **state)
{
    (void)state;
    for (size_t low = 0; low < 64; low++) {
        for (size_t high = low; high < 64; high++) {
            uint64_t run = bits_between(low, high);
            uint64_t above = high < 62 ? bits_between(high + 2, 63) : 0;
            assert_int_equal(bits_lowest_run(run), run);
            assert_int_equal(bits_lowest_run(run | above), run);
        }
    }
}

static void the_first_bits_are_set_and_the_words_behind_untouched(void **state)
{
    (void)state;
    for (size_t count = 0; count <= BIT_COUNT; count++) {
        uint64_t words[WORD_COUNT];
        memset(words, 0, sizeof words);
        bits_set_first(words, count);
        for (size_t i = 0; i < BIT_COUNT; i++) {
            assert_int_equal(bit(words, i), i < count);
        }
        uint64_t untouched = 0x5555555555555555u;
        words[WORD_COUNT - 1] = untouched;
        if (count <= BIT_COUNT - 64) {
            bits_set_first(words, count);
            assert_int_equal(words[WORD_COUNT - 1], untouched);
        }
    }
}

// A whole last word of old bits must not survive: slabs are made in used records.
static void the_bits_behind_in_the_last_word_are_cleared(void **state)
{
    (void)state;
    uint64_t words[2] = {~0ull, ~0ull};
    bits_set_first(words, 70);
    assert_int_equal(words[0], ~0ull);
    assert_int_equal(words[1], 0x3f);
}

static void one_clear_bit_anywhere_in_a_range_is_seen(void **state)
{
    (void)state;
    for (size_t clear = 0; clear < BIT_COUNT; clear++) {
        uint64_t words[WORD_COUNT];
        memset(words, 0xff, sizeof words);
        words[clear / 64] &= ~(1ull << (clear % 64));
        for (size_t first = 0; first < BIT_COUNT; first += 7) {
            for (size_t last = first; last < BIT_COUNT; last += 5) {
                bool is_inside = clear >= first && clear <= last;
                assert_int_equal(bits_are_all_set(words, first, last), !is_inside);
            }
        }
    }
}

static void aligning_up_and_down_meets_at_multiples(void **state)
{
    (void)state;
    for (size_t step = 1; step <= 4096; step *= 2) {
        assert_true(is_power_of_two(step));
        for (size_t value = 1; value < 9000; value += 13) {
            assert_int_equal(align_up(value, step), (value + step - 1) / step * step);
            assert_int_equal(align_down(value, step), value / step * step);
            assert_int_equal(value % largest_power_dividing(value), 0);
            assert_int_equal(value / largest_power_dividing(value) % 2, 1);
        }
    }
    assert_false(is_power_of_two(0));
    assert_false(is_power_of_two(48));
}

static void the_floor_of_the_logarithm_is_the_highest_bit(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 63; shift++) {
        size_t power = (size_t)1 << shift;
        assert_int_equal(log2_floor(power), shift);
        assert_int_equal(log2_floor(2 * power - 1), shift);
    }
    assert_int_equal(log2_floor(SIZE_MAX), 63);
    assert_int_equal(min_size(3, 5), 3);
    assert_int_equal(max_size(3, 5), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_between_are_set_and_no_others),
        cmocka_unit_test(the_lowest_run_ends_where_a_clear_bit_follows),
        cmocka_unit_test(the_first_bits_are_set_and_the_words_behind_untouched),
        cmocka_unit_test(the_bits_behind_in_the_last_word_are_cleared),
        cmocka_unit_test(one_clear_bit_anywhere_in_a_range_is_seen),
        cmocka_unit_test(aligning_up_and_down_meets_at_multiples),
        cmocka_unit_test(the_floor_of_the_logarithm_is_the_highest_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
