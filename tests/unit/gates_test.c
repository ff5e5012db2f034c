// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "policy/gates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    PROBLEM_LIMIT = 8
};

static struct {
    char sentences[PROBLEM_LIMIT][GATE_SENTENCE_BYTES];
    size_t count;
} problems;

static void note_problem(const char *sentence, void *context)
{
    assert_ptr_equal(context, &problems);
    assert_true(problems.count < PROBLEM_LIMIT);
    assert_true(strlen(sentence) < GATE_SENTENCE_BYTES - 1);
    assert_null(strchr(sentence, '\n'));
    strcpy(problems.sentences[problems.count], sentence);
    problems.count++;
}

// Reads up to three settings, the others being NULL.
static struct gates read_settings(const char *first, const char *second, const char *third)
{
    const char *environment[] = {first, second, third, NULL};
    struct gates values;
    memset(&values, 0xA5, sizeof values);
    problems.count = 0;
    gates_read(&values, (void *)environment, note_problem, &problems);
    return values;
}

static void assert_value(const struct gates *values, enum gate_id id, const char *expected)
{
    char value[GATE_TEXT_BYTES];
    size_t length = gate_format(values, id, value, sizeof value);
    assert_string_equal(value, expected);
    assert_int_equal(length, strlen(expected));
}

static void assert_refused(enum gate_id id, const char *text, const char *expected)
{
    struct gates values = gates_default;
    char sentence[GATE_SENTENCE_BYTES] = "";
    assert_false(gate_set(&values, id, text, sentence));
    assert_string_equal(sentence, expected);
    assert_memory_equal(&values, &gates_default, sizeof values);
    assert_false(gate_set(&values, id, text, NULL));
}

static void the_values_in_force_start_as_the_defaults(void **state)
{
    (void)state;
    assert_memory_equal(&gates, &gates_default, sizeof gates);
    assert_int_equal(gates.dirty_limit, 8 << 20);
    struct gates values = read_settings(NULL, NULL, NULL);
    assert_memory_equal(&values, &gates_default, sizeof values);
    assert_int_equal(problems.count, 0);
}

static void every_row_is_whole_and_its_default_is_in_its_range(void **state)
{
    (void)state;
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        const struct gate_info *gate = &gate_table[id];
        assert_int_equal(strncmp(gate->env, "HAKMEM_", 7), 0);
        assert_true(strlen(gate->help) > 0);
        assert_int_equal(gate_find(gate->env), id);
        assert_int_equal(gate_nearest(gate->env), id);
        if (gate->type == GATE_TYPE_CHOICE) {
            // The first word is the default: that is what an untouched struct gates holds.
            size_t length = strlen(gate->initial_word);
            assert_int_equal(strncmp(gate->words, gate->initial_word, length), 0);
            assert_true(gate->words[length] == '|' || gate->words[length] == '\0');
        }
        char range[GATE_TEXT_BYTES];
        assert_true(gate_format_range((enum gate_id)id, range, sizeof range) < sizeof range);
        assert_true(strlen(range) > 0);
        // hak_ctl_set stores a number or a bool.
        assert_true(gate->when != GATE_LIVE ||
                    (gate->type != GATE_TYPE_CHOICE && gate->type != GATE_TYPE_TEXT));
    }
}

static void what_a_gate_writes_it_reads_back(void **state)
{
    (void)state;
    struct gates written = read_settings("HAKMEM_LIMIT=auto", "HAKMEM_TINY_PROFILE=full", NULL);
    written.dirty_share = 100;
    written.bin_bytes = 12345;
    written.heap_bin_bytes = 0;
    written.total_bin_bytes = 3ull << 30;
    written.verbose = true;
    strcpy(written.stats, "a file = with, odd letters");
    strcpy(written.profile, "lean");
    const struct gates *const sources[] = {&gates_default, &written};
    for (size_t i = 0; i < 2; i++) {
        struct gates read = *sources[1 - i];
        for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
            char value[GATE_TEXT_BYTES];
            char again[GATE_TEXT_BYTES];
            size_t length = gate_format(sources[i], (enum gate_id)id, value, sizeof value);
            assert_int_equal(length, strlen(value));
            assert_true(gate_set(&read, (enum gate_id)id, value, NULL));
            (void)gate_format(&read, (enum gate_id)id, again, sizeof again);
            assert_string_equal(value, again);
        }
        assert_int_equal(read.limit, sources[i]->limit);
        assert_int_equal(read.bin_bytes, sources[i]->bin_bytes);
        assert_int_equal(read.total_bin_bytes, sources[i]->total_bin_bytes);
        assert_int_equal(read.tiny_profile, sources[i]->tiny_profile);
    }
}

static void a_bool_takes_the_usual_words(void **state)
{
    (void)state;
    static const char *const yes[] = {"on", "1", "true", "yes", "ON", "True"};
    static const char *const no[] = {"off", "0", "false", "no", "OFF"};
    struct gates values = gates_default;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        values.verbose = false;
        assert_true(gate_set(&values, GATE_ID_verbose, yes[i], NULL));
        assert_true(values.verbose);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        values.verbose = true;
        assert_true(gate_set(&values, GATE_ID_verbose, no[i], NULL));
        assert_false(values.verbose);
    }
    assert_refused(GATE_ID_verbose, "2", "HAKMEM_VERBOSE=2 is neither on nor off. Give on or off.");
    assert_refused(GATE_ID_verbose, "", "HAKMEM_VERBOSE= is neither on nor off. Give on or off.");
}

static void a_count_takes_digits_in_its_range(void **state)
{
    (void)state;
    struct gates values = gates_default;
    assert_true(gate_set(&values, GATE_ID_dirty_share, "100", NULL));
    assert_int_equal(values.dirty_share, 100);
    assert_refused(GATE_ID_dirty_share, "101",
                   "HAKMEM_DIRTY_SHARE=101 is out of range. Give 0 to 100.");
    assert_refused(GATE_ID_dirty_share, "18446744073709551616",
                   "HAKMEM_DIRTY_SHARE=18446744073709551616 is not a whole number. "
                   "Give 0 to 100.");
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1k", "0x10", "1.5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(gate_set(&values, GATE_ID_dirty_share, bad[i], NULL));
    }
}

static void a_mask_takes_hexadecimal_and_decimal(void **state)
{
    (void)state;
    struct gates values = gates_default;
    static const struct {
        const char *text;
        const char *written;
        uint64_t mask;
    } masks[] = {{"0x40", "0x40", 0x40}, {"64", "0x40", 0x40}, {"0XfF", "0xff", 0xff},
                 {"0", "0x0", 0},        {"0x0", "0x0", 0},    {"0x00a", "0xa", 10}};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        assert_true(gate_set(&values, GATE_ID_mid_v3_classes, masks[i].text, NULL));
        assert_int_equal(values.mid_v3_classes, masks[i].mask);
        assert_value(&values, GATE_ID_mid_v3_classes, masks[i].written);
    }
    assert_refused(GATE_ID_mid_v3_classes, "0x100",
                   "HAKMEM_MID_V3_CLASSES=0x100 is out of range. Give a mask up to 0xff.");
    assert_refused(GATE_ID_mid_v3_classes, "C6",
                   "HAKMEM_MID_V3_CLASSES=C6 is not a mask. Give a mask up to 0xff.");
    static const char *const bad[] = {"", "0x", "x40", "0xg", "-1", "0x10000000000000000", "40h"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(gate_set(&values, GATE_ID_mid_v3_classes, bad[i], NULL));
    }
}

static void a_size_takes_units_as_powers_of_1024(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        {"0", 0},           {"off", 0},          {"1500", 1500},       {"7b", 7},
        {"2k", 2 << 10},    {"2K", 2 << 10},     {"2KB", 2 << 10},     {"2KiB", 2 << 10},
        {"3m", 3 << 20},    {"3M", 3 << 20},     {"3MB", 3 << 20},     {"3MiB", 3 << 20},
        {"5g", 5ull << 30}, {"5G", 5ull << 30},  {"5GiB", 5ull << 30}, {"1t", 1ull << 40},
        {"1T", 1ull << 40}, {"1TB", 1ull << 40}, {"1TiB", 1ull << 40},
    };
    struct gates values = gates_default;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        values.dirty_limit = 99;
        assert_true(gate_set(&values, GATE_ID_dirty_limit, sizes[i].text, NULL));
        assert_int_equal(values.dirty_limit, sizes[i].bytes);
    }
    static const char *const bad[] = {"",     "k",  "MiB",   "1.5MiB",     "1 MiB",
                                      "-1",   "1x", "1kk",   "1iB",        "0x10",
                                      "auto", "on", "1KiBs", "16777216TiB"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(gate_set(&values, GATE_ID_dirty_limit, bad[i], NULL));
    }
    assert_refused(GATE_ID_dirty_limit, "ten",
                   "HAKMEM_DIRTY_LIMIT=ten is not a size. Give a size up to 1TiB, or off; "
                   "a size is bytes with a unit, e.g. 16MiB.");
    assert_refused(GATE_ID_bin_bytes, "17MiB",
                   "HAKMEM_BIN_BYTES=17MiB is out of range. Give a size up to 16MiB, or off.");
}

static void auto_is_a_word_and_never_a_number(void **state)
{
    (void)state;
    struct gates values = gates_default;
    assert_true(gate_set(&values, GATE_ID_limit, "auto", NULL));
    assert_true(values.limit == GATE_AUTO);
    assert_value(&values, GATE_ID_limit, "auto");
    assert_false(gate_set(&values, GATE_ID_limit, "18446744073709551615", NULL));
    assert_true(gate_set(&values, GATE_ID_limit, "18446744073709551614", NULL));
    assert_false(gate_set(&values, GATE_ID_limit, "18446744073709551616", NULL));
}

static void a_choice_takes_only_its_words(void **state)
{
    (void)state;
    struct gates values = gates_default;
    assert_value(&values, GATE_ID_tiny_profile, "conservative");
    assert_true(gate_set(&values, GATE_ID_tiny_profile, "hot", NULL));
    assert_int_equal(values.tiny_profile, 1);
    assert_true(gate_set(&values, GATE_ID_tiny_profile, "off", NULL));
    assert_int_equal(values.tiny_profile, 3);
    static const char *const bad[] = {"", "ho", "hott", "hot|full", "|", "HOT"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(gate_set(&values, GATE_ID_tiny_profile, bad[i], NULL));
    }
    assert_refused(GATE_ID_tiny_profile, "warm",
                   "HAKMEM_TINY_PROFILE=warm is not one of its words. "
                   "Give conservative|hot|full|off.");
}

static void a_text_is_refused_rather_than_cut(void **state)
{
    (void)state;
    char longest[GATE_TEXT_BYTES];
    char too_long[GATE_TEXT_BYTES + 1];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memset(too_long, 'a', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';
    struct gates values = gates_default;
    assert_true(gate_set(&values, GATE_ID_stats, longest, NULL));
    assert_string_equal(values.stats, longest);
    assert_refused(GATE_ID_stats, too_long,
                   "HAKMEM_STATS=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... is too long. "
                   "Give text of up to 511 bytes.");
}

static void a_profile_must_exist(void **state)
{
    (void)state;
    assert_refused(GATE_ID_profile, "laen",
                   "HAKMEM_PROFILE=laen is not a profile. Did you mean lean? "
                   "`hakmem profiles` lists them.");
    assert_refused(GATE_ID_profile, "something_else",
                   "HAKMEM_PROFILE=something_else is not a profile. "
                   "`hakmem profiles` lists them.");
}

static void format_counts_what_it_cuts(void **state)
{
    (void)state;
    char value[5] = "zzzz";
    assert_int_equal(gate_format(&gates_default, GATE_ID_tiny_profile, value, sizeof value), 12);
    assert_string_equal(value, "cons");
    assert_int_equal(gate_format(&gates_default, GATE_ID_tiny_profile, NULL, 0), 12);
}

static void environment_wins_over_profile_wins_over_default(void **state)
{
    (void)state;
    struct gates values = read_settings("HAKMEM_DIRTY_LIMIT=3MiB", "HAKMEM_PROFILE=lean", NULL);
    assert_int_equal(problems.count, 0);
    assert_string_equal(values.profile, "lean");
    assert_int_equal(values.dirty_limit, 3 << 20);
    assert_int_equal(values.dirty_share, 2);
    assert_int_equal(values.total_bin_bytes, gates_default.total_bin_bytes);
}

static void the_first_of_two_equal_names_wins(void **state)
{
    (void)state;
    struct gates values = read_settings("HAKMEM_DIRTY_SHARE=1", "HAKMEM_DIRTY_SHARE=2", NULL);
    assert_int_equal(values.dirty_share, 1);
    values = read_settings("HAKMEM_PROFILE=lean", "HAKMEM_PROFILE=throughput", NULL);
    assert_string_equal(values.profile, "lean");
}

static void a_bad_value_keeps_the_one_before(void **state)
{
    (void)state;
    struct gates values = read_settings("HAKMEM_PROFILE=lean", "HAKMEM_DIRTY_LIMIT=ten", NULL);
    assert_int_equal(values.dirty_limit, 1 << 20);
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.sentences[0],
                        "HAKMEM_DIRTY_LIMIT=ten is not a size; using 1MiB. Give a size up to 1TiB, "
                        "or off; a size is bytes with a unit, e.g. 16MiB.");
    values = read_settings("HAKMEM_PROFILE=leen", NULL, NULL);
    assert_string_equal(values.profile, "");
    assert_int_equal(values.dirty_limit, gates_default.dirty_limit);
    assert_string_equal(problems.sentences[0],
                        "HAKMEM_PROFILE=leen is not a profile; ignored. Did you mean lean? "
                        "`hakmem profiles` lists them.");
}

static void an_unknown_name_is_told_with_the_nearest(void **state)
{
    (void)state;
    (void)read_settings("HAKMEM_DIRTY_LIMT=1MiB", "HAKMEM_QUARTZ=1", "HAKMEM_=1");
    assert_int_equal(problems.count, 3);
    assert_string_equal(problems.sentences[0],
                        "HAKMEM_DIRTY_LIMT is not a setting of hakmem; ignored. "
                        "Did you mean HAKMEM_DIRTY_LIMIT? `hakmem gates` lists them.");
    assert_string_equal(problems.sentences[1], "HAKMEM_QUARTZ is not a setting of hakmem; "
                                               "ignored. `hakmem gates` lists them.");
    (void)read_settings("HAKMEM_\n\x1b[31m=1", NULL, NULL);
    assert_non_null(strstr(problems.sentences[0], "HAKMEM_??[31m is not"));
}

static void other_names_are_not_looked_at(void **state)
{
    (void)state;
    (void)read_settings("HAKMEMORY=1", "PATH=/bin", "HAKMEM_LIBRARY=/lib/libhakmem.so");
    assert_int_equal(problems.count, 0);
    (void)read_settings("HAKMEM_VERBOSE", "", NULL);
    assert_int_equal(problems.count, 0);
}

static void problems_may_go_untold(void **state)
{
    (void)state;
    const char *environment[] = {"HAKMEM_LIMIT=x", "HAKMEM_X=1", "HAKMEM_PROFILE=x", NULL};
    struct gates values;
    gates_read(&values, (void *)environment, NULL, NULL);
    assert_memory_equal(&values, &gates_default, sizeof values);
}

static void a_typing_error_finds_its_gate(void **state)
{
    (void)state;
    assert_int_equal(gate_nearest("HAKMEM_LMIIT"), GATE_ID_limit);
    assert_int_equal(gate_nearest("HAKMEM_DIRTYLIMIT"), GATE_ID_dirty_limit);
    assert_int_equal(gate_nearest("hakmem_verbos"), GATE_ID_verbose);
    assert_int_equal(gate_nearest("DIRTY_SHARE"), GATE_ID_dirty_share);
    assert_int_equal(gate_nearest("HAKMEM_STAT"), GATE_ID_stats);
    assert_int_equal(gate_nearest("HAKMEM_ZZZZZZ"), -1);
    assert_int_equal(gate_nearest(""), -1);
    assert_int_equal(gate_find("HAKMEM_LIMIT2"), -1);
    assert_int_equal(gate_find("HAKMEM_LIMI"), -1);
}

static void every_profile_reads_without_a_problem(void **state)
{
    (void)state;
    assert_true(profile_count > 0);
    for (size_t i = 0; i < profile_count; i++) {
        char setting[64] = "HAKMEM_PROFILE=";
        assert_null(strstr(profile_table[i].settings, "HAKMEM_PROFILE"));
        assert_true(strlen(profile_table[i].help) > 0);
        strcat(setting, profile_table[i].name);
        struct gates values = read_settings(setting, NULL, NULL);
        assert_int_equal(problems.count, 0);
        assert_string_equal(values.profile, profile_table[i].name);
        assert_ptr_equal(profile_find(profile_table[i].name), &profile_table[i]);
    }
    assert_null(profile_find("no such"));
    assert_ptr_equal(profile_nearest("thruoghput"), profile_find("throughput"));
    assert_null(profile_nearest("zzz"));
}

static void text_is_cut_at_the_capacity_and_counted(void **state)
{
    (void)state;
    char data[8];
    struct text text = text_start(data, sizeof data);
    text_add(&text, "abc");
    text_add_uint(&text, UINT64_MAX);
    assert_string_equal(data, "abc1844");
    assert_int_equal(text.length, 23);
    text = text_start(data, sizeof data);
    text_add_hex(&text, 0xBEEF);
    assert_string_equal(data, "0xbeef");
    text = text_start(data, sizeof data);
    text_add_size(&text, 0);
    text_add_size(&text, 1536);
    text_add_size(&text, 65536);
    assert_string_equal(data, "0153664");
    assert_int_equal(text.length, 10);
    text = text_start(NULL, 0);
    text_add_size(&text, 3ull << 40);
    assert_int_equal(text.length, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_values_in_force_start_as_the_defaults),
        cmocka_unit_test(every_row_is_whole_and_its_default_is_in_its_range),
        cmocka_unit_test(what_a_gate_writes_it_reads_back),
        cmocka_unit_test(a_bool_takes_the_usual_words),
        cmocka_unit_test(a_count_takes_digits_in_its_range),
        cmocka_unit_test(a_mask_takes_hexadecimal_and_decimal),
        cmocka_unit_test(a_size_takes_units_as_powers_of_1024),
        cmocka_unit_test(auto_is_a_word_and_never_a_number),
        cmocka_unit_test(a_choice_takes_only_its_words),
        cmocka_unit_test(a_text_is_refused_rather_than_cut),
        cmocka_unit_test(a_profile_must_exist),
        cmocka_unit_test(format_counts_what_it_cuts),
        cmocka_unit_test(environment_wins_over_profile_wins_over_default),
        cmocka_unit_test(the_first_of_two_equal_names_wins),
        cmocka_unit_test(a_bad_value_keeps_the_one_before),
        cmocka_unit_test(an_unknown_name_is_told_with_the_nearest),
        cmocka_unit_test(other_names_are_not_looked_at),
        cmocka_unit_test(problems_may_go_untold),
        cmocka_unit_test(a_typing_error_finds_its_gate),
        cmocka_unit_test(every_profile_reads_without_a_problem),
        cmocka_unit_test(text_is_cut_at_the_capacity_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
