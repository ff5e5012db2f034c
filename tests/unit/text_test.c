// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "unit_check.h"

#include <stdio.h>
#include <string.h>

enum {
    DATA_BYTES = 64,
    UNTOUCHED = 0x7e,
};

static void numbers_read_as_printf_writes_them(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, 9, 10, 15, 16, 255, 1234567890, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char data[DATA_BYTES];
        char expected[DATA_BYTES];
        struct text text = text_start(data, sizeof data);
        text_add_uint(&text, numbers[i]);
        text_add(&text, " ");
        text_add_hex(&text, numbers[i]);
        int length = snprintf(expected, sizeof expected, "%llu 0x%llx",
                              (unsigned long long)numbers[i], (unsigned long long)numbers[i]);
        assert_string_equal(data, expected);
        assert_int_equal(text.length, length);
    }
}

static void a_size_takes_the_largest_unit_that_loses_nothing(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *expected;
    } cases[] = {{0, "0"},
                 {1023, "1023"},
                 {1024, "1KiB"},
                 {1536, "1536"},
                 {65536, "64KiB"},
                 {5ull << 20, "5MiB"},
                 {(5ull << 20) + 1024, "5121KiB"},
                 {3ull << 30, "3GiB"},
                 {7ull << 40, "7TiB"},
                 {1ull << 50, "1024TiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char data[DATA_BYTES];
        struct text text = text_start(data, sizeof data);
        text_add_size(&text, cases[i].bytes);
        assert_string_equal(data, cases[i].expected);
    }
}

static void nothing_is_written_past_any_capacity(void **state)
{
    (void)state;
    const char whole[] = "abc12340xff9KiB";
    for (size_t capacity = 0; capacity < DATA_BYTES; capacity++) {
        char data[DATA_BYTES];
        memset(data, UNTOUCHED, sizeof data);
        struct text text = text_start(data, capacity);
        text_add(&text, "abc");
        text_add_uint(&text, 1234);
        text_add_hex(&text, 255);
        text_add_size(&text, 9 << 10);
        assert_int_equal(text.length, sizeof whole - 1);
        assert_true(is_filled_with(data + capacity, UNTOUCHED, sizeof data - capacity));
        if (capacity > 0) {
            size_t kept = capacity < sizeof whole ? capacity - 1 : sizeof whole - 1;
            assert_int_equal(strlen(data), kept);
            assert_memory_equal(data, whole, kept);
        }
    }
}

static void bytes_are_added_without_their_end(void **state)
{
    (void)state;
    char data[DATA_BYTES];
    struct text text = text_start(data, sizeof data);
    assert_string_equal(data, "");
    text_add_bytes(&text, "abcdef", 3);
    text_add_bytes(&text, "xyz", 0);
    text_add(&text, "");
    text_add_bytes(&text, "de", 2);
    assert_string_equal(data, "abcde");
    assert_int_equal(text.length, 5);
}

static void a_text_without_a_buffer_only_measures(void **state)
{
    (void)state;
    struct text text = text_start(NULL, 0);
    text_add(&text, "four");
    text_add_uint(&text, 12);
    assert_int_equal(text.length, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_as_printf_writes_them),
        cmocka_unit_test(a_size_takes_the_largest_unit_that_loses_nothing),
        cmocka_unit_test(nothing_is_written_past_any_capacity),
        cmocka_unit_test(bytes_are_added_without_their_end),
        cmocka_unit_test(a_text_without_a_buffer_only_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
