// SPDX-License-Identifier: MIT
#include "harden/trailer.h"

#include "harden/wipe.h"
#include "unit_check.h"

#include <string.h>

enum {
    BLOCK_BYTES = 112,
    MOST_BYTES = BLOCK_BYTES - TRAILER_BYTES,
    LONG_BYTES = 4096,
};

static _Alignas(16) char memory[2 * LONG_BYTES];

static int start(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    harden_init(0x1234567890abcdefu);
    return 0;
}

static bool is_untouched(size_t class_bytes)
{
    uint64_t code = trailer_read(memory, class_bytes);
    return trailer_is_live(code, class_bytes) &&
           slack_is_whole(memory, class_bytes - TRAILER_BYTES, trailer_slack(code));
}

static void a_trailer_says_what_was_asked_for(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= LONG_BYTES - TRAILER_BYTES; bytes++) {
        trailer_arm(memory, LONG_BYTES, bytes, KIND_NEW_ARRAY);
        uint64_t code = trailer_read(memory, LONG_BYTES);
        assert_true(is_untouched(LONG_BYTES));
        assert_int_equal(trailer_slack(code), LONG_BYTES - TRAILER_BYTES - bytes);
        assert_int_equal(trailer_kind(code), KIND_NEW_ARRAY);
    }
}

static void one_byte_behind_the_block_shows(void **state)
{
    (void)state;
    for (size_t bytes = MOST_BYTES - 15; bytes <= MOST_BYTES; bytes++) {
        for (unsigned value = 0; value < 256; value++) {
            (void)start(NULL);
            trailer_arm(memory, BLOCK_BYTES, bytes, KIND_MALLOC);
            bool is_changed = (unsigned char)memory[bytes] != value;
            memory[bytes] = (char)value;
            assert_int_equal(is_untouched(BLOCK_BYTES), !is_changed);
            assert_true(value != 0 || is_changed);  // the end of a string always shows
        }
    }
}

static void long_slack_shows_at_its_first_bytes(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < SLACK_CHECKED_MOST; offset++) {
        (void)start(NULL);
        trailer_arm(memory, LONG_BYTES, 1000, KIND_MALLOC);
        memory[1000 + offset] ^= 1;
        assert_false(is_untouched(LONG_BYTES));
    }
    // The others aren't even written: they may be pages that nobody uses.
    for (size_t i = 1000 + SLACK_CHECKED_MOST; i < LONG_BYTES - TRAILER_BYTES; i++) {
        assert_int_equal(memory[i], 0);
    }
}

static void a_trailer_is_no_good_elsewhere(void **state)
{
    (void)state;
    trailer_arm(memory, BLOCK_BYTES, 50, KIND_MALLOC);
    for (size_t offset = 16; offset < LONG_BYTES - BLOCK_BYTES; offset += 16) {
        memcpy(memory + offset + MOST_BYTES, memory + MOST_BYTES, TRAILER_BYTES);
        assert_false(trailer_is_good(trailer_read(memory + offset, BLOCK_BYTES), BLOCK_BYTES));
    }
}

static void a_freed_block_is_told_from_a_live_one(void **state)
{
    (void)state;
    trailer_write(memory, BLOCK_BYTES, 4, KIND_FREED);
    uint64_t code = trailer_read(memory, BLOCK_BYTES);
    assert_true(trailer_is_freed(code, BLOCK_BYTES));
    assert_false(trailer_is_live(code, BLOCK_BYTES));
    assert_int_equal(trailer_slack(code), 4);
}

static void every_byte_of_a_wiped_block_is_looked_at(void **state)
{
    (void)state;
    for (size_t class_bytes = 16; class_bytes <= 1024; class_bytes += 16) {
        memset(memory, 0x5a, sizeof memory);
        wipe_block(memory, class_bytes);
        trailer_write(memory, class_bytes, 0, KIND_FREED);
        assert_true(wipe_block_is_clean(memory, class_bytes));
        assert_int_equal(memory[class_bytes], 0x5a);
        // What a freed block's trailer says of the slack doesn't matter.
        for (size_t i = 0; i < class_bytes - TRAILER_BYTES / 2; i++) {
            memory[i] ^= 1;
            assert_false(wipe_block_is_clean(memory, class_bytes));
            memory[i] ^= 1;
        }
        memset(memory + class_bytes - TRAILER_BYTES, 0, TRAILER_BYTES);
        assert_true(wipe_block_is_clean(memory, class_bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_trailer_says_what_was_asked_for, start),
        cmocka_unit_test_setup(one_byte_behind_the_block_shows, start),
        cmocka_unit_test_setup(long_slack_shows_at_its_first_bytes, start),
        cmocka_unit_test_setup(a_trailer_is_no_good_elsewhere, start),
        cmocka_unit_test_setup(a_freed_block_is_told_from_a_live_one, start),
        cmocka_unit_test_setup(every_byte_of_a_wiped_block_is_looked_at, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
