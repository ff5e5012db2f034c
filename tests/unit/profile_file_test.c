// A profile that is a file: HAKMEM_PROFILE with a / in it.
// SPDX-License-Identifier: MIT
#include "policy/gates.h"

#include "unit_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROBLEM_COUNT = 8,
    LONGEST_BYTES = (64 << 10) - 1,
};

static struct {
    unsigned count;
    char sentences[PROBLEM_COUNT][GATE_SENTENCE_BYTES];
} problems;

// In a folder of the test's own, which is the current one.
static const char path[] = "./a.profile";

static void note_problem(const char *sentence, void *context)
{
    (void)context;
    assert_true(problems.count < PROBLEM_COUNT);
    assert_true(strlen(sentence) < GATE_SENTENCE_BYTES - 1);
    (void)strcpy(problems.sentences[problems.count++], sentence);
}

static void write_file(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static struct gates read_profile(const char *profile)
{
    struct gates values;
    char setting[sizeof "HAKMEM_PROFILE=" + GATE_TEXT_BYTES];
    (void)snprintf(setting, sizeof setting, "HAKMEM_PROFILE=%s", profile);
    problems.count = 0;
    gates_read(&values, (char *const[]){setting, "HAKMEM_LIMIT=1GiB", NULL}, note_problem, NULL);
    return values;
}

static struct gates read_text(const char *text)
{
    write_file(text, strlen(text));
    return read_profile(path);
}

static void its_lines_set_gates(void **state)
{
    (void)state;
    struct gates values = read_text("HAKMEM_DIRTY_LIMIT=3MiB\nHAKMEM_DIRTY_SHARE=7\n"
                                    "HAKMEM_TINY_PROFILE=hot");
    assert_int_equal(problems.count, 0);
    assert_string_equal(values.profile, path);
    assert_int_equal(values.dirty_limit, 3 << 20);
    assert_int_equal(values.dirty_share, 7);
    assert_int_equal(values.tiny_profile, 1);
    assert_int_equal(values.bin_bytes, gates_default.bin_bytes);
}

static void comments_blanks_and_empty_lines_are_passed_over(void **state)
{
    (void)state;
    struct gates values = read_text("# HAKMEM_DIRTY_SHARE=1\n\n   \t\r\n"
                                    "  HAKMEM_DIRTY_SHARE=7 \t\r\n\t# more");
    assert_int_equal(problems.count, 0);
    assert_int_equal(values.dirty_share, 7);
}

static void an_empty_file_sets_nothing(void **state)
{
    (void)state;
    struct gates values = read_text("");
    assert_int_equal(problems.count, 0);
    assert_int_equal(values.dirty_share, gates_default.dirty_share);
}

static void the_environment_wins_over_it(void **state)
{
    (void)state;
    assert_int_equal(read_text("HAKMEM_LIMIT=2GiB\n").limit, 1 << 30);
    assert_int_equal(problems.count, 0);
}

static void the_first_of_two_equal_lines_wins(void **state)
{
    (void)state;
    assert_int_equal(read_text("HAKMEM_DIRTY_SHARE=1\nHAKMEM_DIRTY_SHARE=2\n").dirty_share, 1);
}

static void a_wrong_line_is_told_with_its_number(void **state)
{
    (void)state;
    struct gates values = read_text("HAKMEM_DIRTY_SHARE=5\nHAKMEM_DIRTY_LIMIT=ten\nnonsense\n"
                                    "HAKMEM_DIRTY_LIMT=1\nHAKMEM_PROFILE=lean\n=1\n"
                                    "HAKMEM_BIN_BYTES=1KiB");
    assert_int_equal(values.dirty_share, 5);
    assert_int_equal(values.dirty_limit, gates_default.dirty_limit);
    assert_int_equal(values.bin_bytes, 1 << 10);
    assert_string_equal(values.profile, path);
    assert_int_equal(problems.count, 5);
    assert_string_equal(
        problems.sentences[0],
        "./a.profile, line 2: HAKMEM_DIRTY_LIMIT=ten is not a size; using 8MiB. Give "
        "a size up to 1TiB, or off; a size is bytes with a unit, e.g. 16MiB.");
    assert_string_equal(problems.sentences[1],
                        "./a.profile, line 3: nonsense is not a line GATE=VALUE; ignored.");
    assert_string_equal(problems.sentences[2],
                        "./a.profile, line 4: HAKMEM_DIRTY_LIMT is not a setting of hakmem; "
                        "ignored. Did you mean HAKMEM_DIRTY_LIMIT? `hakmem gates` lists them.");
    assert_string_equal(problems.sentences[3], "./a.profile, line 5: HAKMEM_PROFILE=lean is "
                                               "ignored: a profile takes no other one in.");
    assert_non_null(strstr(problems.sentences[4], "line 6:  is not a setting of hakmem"));
}

static void zero_bytes_are_no_text(void **state)
{
    (void)state;
    static const char text[] = "HAKMEM_STATS=a\0b\nHAKMEM_DIRTY_SHARE=5\n";
    write_file(text, sizeof text - 1);
    struct gates values = read_profile(path);
    assert_string_equal(values.stats, "");
    assert_int_equal(values.dirty_share, 5);
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.sentences[0], "./a.profile, line 1: HAKMEM_STATS=a?b is not a "
                                               "line GATE=VALUE; ignored.");
}

static void a_file_has_a_longest_length(void **state)
{
    (void)state;
    static char text[LONGEST_BYTES + 1];
    memset(text, '#', sizeof text);
    memcpy(text, "HAKMEM_DIRTY_SHARE=5\n", 21);
    write_file(text, LONGEST_BYTES);
    assert_int_equal(read_profile(path).dirty_share, 5);
    assert_int_equal(problems.count, 0);
    write_file(text, sizeof text);
    struct gates values = read_profile(path);
    assert_int_equal(values.dirty_share, gates_default.dirty_share);
    assert_string_equal(values.profile, "");
    assert_string_equal(
        problems.sentences[0],
        "HAKMEM_PROFILE=./a.profile is longer than 64KiB; ignored. Give the path of "
        "a text file of lines GATE=VALUE.");
}

static void what_is_no_file_is_refused_without_waiting(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("./pipe", 0600), 0);
    static const char *const refused[] = {"./nowhere", "./", "/dev/zero"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct gates values = read_profile(refused[i]);
        assert_string_equal(values.profile, "");
        assert_int_equal(values.limit, 1 << 30);
        assert_int_equal(problems.count, 1);
        assert_non_null(strstr(problems.sentences[0], "Give the path of a text file"));
    }
    (void)read_profile("./pipe");
    assert_int_equal(unlink("./pipe"), 0);
}

static void every_length_of_a_file_is_read_within_it(void **state)
{
    (void)state;
    static const char text[] = "HAKMEM_DIRTY_SHARE=5\r\n#\n\n =\nHAKMEM_STATS=./x y\nHAKMEM_LIMIT";
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        write_file(text, bytes);
        struct gates values = read_profile(path);
        assert_int_equal(values.dirty_share, bytes < 20 ? gates_default.dirty_share : 5);
    }
}

static int enter_own_folder(void **state)
{
    static char folder[] = "/tmp/profile_file_test_XXXXXX";
    *state = mkdtemp(folder);
    return *state == NULL || chdir(*state) != 0;
}

static int remove_own_folder(void **state)
{
    return unlink(path) != 0 || rmdir(*state) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_lines_set_gates),
        cmocka_unit_test(comments_blanks_and_empty_lines_are_passed_over),
        cmocka_unit_test(an_empty_file_sets_nothing),
        cmocka_unit_test(the_environment_wins_over_it),
        cmocka_unit_test(the_first_of_two_equal_lines_wins),
        cmocka_unit_test(a_wrong_line_is_told_with_its_number),
        cmocka_unit_test(zero_bytes_are_no_text),
        cmocka_unit_test(a_file_has_a_longest_length),
        cmocka_unit_test(what_is_no_file_is_refused_without_waiting),
        cmocka_unit_test(every_length_of_a_file_is_read_within_it),
    };
    return cmocka_run_group_tests(tests, enter_own_folder, remove_own_folder);
}
