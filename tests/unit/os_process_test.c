// SPDX-License-Identifier: MIT
#include "os/os_process.h"
#include "unit_check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/os_process_test.XXXXXX";
static char path[sizeof folder + 16];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/figures", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void die_plain(void *argument)
{
    die(argument);
}

static void die_misused(void *argument)
{
    die_misuse("double free", argument, 48);
}

static void die_foreign(void *argument)
{
    die_misuse("free", argument, 0);
}

static void die_of_damage(void *argument)
{
    die_damaged(argument, 262144);
}

static void the_last_words_are_one_line(void **state)
{
    (void)state;
    assert_dies(die_plain, "all is lost", "hakmem: all is lost");
    assert_dies(die_misused, (void *)0x7f00000000a0,
                "hakmem: double free of 0x7f00000000a0, a 48-byte block");
    assert_dies(die_foreign, NULL, "hakmem: free of 0x0, which is not a block");
    assert_dies(die_of_damage, (void *)UINTPTR_MAX,
                "hakmem: free block 0xffffffffffffffff was written after it was freed, a "
                "262144-byte block");
}

enum {
    THREAD_COUNT = 4,
    TRIAL_COUNT = 50,
};

static pthread_barrier_t all_here;

static void die_with_the_others(void *argument)
{
    (void)pthread_barrier_wait(&all_here);
    die(argument);
}

static void die_together(void *argument)
{
    run_in_threads(die_with_the_others, argument, 0, THREAD_COUNT);
}

static void threads_that_die_together_say_one_line(void **state)
{
    (void)state;
    assert_int_equal(pthread_barrier_init(&all_here, NULL, THREAD_COUNT), 0);
    for (int i = 0; i < TRIAL_COUNT; i++) {
        assert_dies(die_together, "all is lost", "hakmem: all is lost");
    }
    (void)pthread_barrier_destroy(&all_here);
}

static void text_is_appended_and_read_back(void **state)
{
    (void)state;
    char text[32];
    struct stat status;
    errno = 55;
    assert_int_equal(os_append_file(path, "one\n", 4), 0);
    assert_int_equal(os_append_file(path, "two\n", 4), 0);
    assert_int_equal(os_read_file(path, text, sizeof text), 8);
    assert_memory_equal(text, "one\ntwo\n", 8);
    assert_int_equal(os_read_file(path, text, 3), 3);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    assert_int_equal(errno, 55);
}

static void a_file_that_cannot_be_opened_is_told(void **state)
{
    (void)state;
    char text[8];
    errno = 55;
    assert_int_equal(os_append_file(folder, "x", 1), EISDIR);
    assert_int_equal(os_append_file("/nowhere/at/all", "x", 1), ENOENT);
    assert_int_equal(os_read_file("/nowhere/at/all", text, sizeof text), -1);
    assert_int_equal(os_read_file(folder, text, sizeof text), -1);
    assert_int_equal(errno, 55);
}

static void the_process_is_known(void **state)
{
    (void)state;
    assert_int_equal(os_process_id(), getpid());
    assert_false(os_is_secure_execution());
    assert_int_not_equal(os_random_seed(), 0);
    assert_int_equal(os_random_seed(), os_random_seed());
    assert_ptr_equal(os_environment(), environ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_words_are_one_line),
        cmocka_unit_test(threads_that_die_together_say_one_line),
        cmocka_unit_test(text_is_appended_and_read_back),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_told),
        cmocka_unit_test(the_process_is_known),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
