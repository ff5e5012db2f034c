// SPDX-License-Identifier: MIT
#include "os/os_cgroup.h"
#include "os/os_process.h"
#include "unit_check.h"

#include <string.h>

// The files of the pretended system: the linker leads os_read_file here.
struct file {
    const char *path;
    const char *text;
};

enum {
    FILE_COUNT_MOST = 4
};

static struct file files[FILE_COUNT_MOST];

long __wrap_os_read_file(const char *path, char *text, size_t capacity);

long __wrap_os_read_file(const char *path, char *text, size_t capacity)
{
    for (size_t i = 0; i < FILE_COUNT_MOST && files[i].path != NULL; i++) {
        if (strcmp(files[i].path, path) == 0) {
            size_t length = strlen(files[i].text);
            length = length < capacity ? length : capacity;
            memcpy(text, files[i].text, length);
            return (long)length;
        }
    }
    return -1;
}

static uint64_t limit_with(struct file first, struct file second, struct file third)
{
    files[0] = first;
    files[1] = second;
    files[2] = third;
    return os_cgroup_memory_limit();
}

static const struct file none = {NULL, NULL};
static const struct file own_group = {"/proc/self/cgroup", "0::/user.slice/my.scope\n"};

static void the_limit_is_that_of_the_processs_own_group(void **state)
{
    (void)state;
    struct file limit = {"/sys/fs/cgroup/user.slice/my.scope/memory.max", "1073741824\n"};
    assert_int_equal(limit_with(own_group, limit, none), 1073741824);
    struct file root = {"/sys/fs/cgroup/memory.max", "5\n"};
    assert_int_equal(limit_with(own_group, limit, root), 1073741824);
}

// In a container the path is that of the host, and the mount shows the container's own group.
static void in_a_container_the_limit_stands_at_the_mounts_root(void **state)
{
    (void)state;
    struct file root = {"/sys/fs/cgroup/memory.max", "4096000\n"};
    assert_int_equal(limit_with(own_group, root, none), 4096000);
}

static void version_one_is_read_where_there_is_no_version_two(void **state)
{
    (void)state;
    struct file group = {"/proc/self/cgroup", "9:memory:/docker/1\n3:cpu:/docker/1\n"};
    struct file limit = {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "777777792\n"};
    assert_int_equal(limit_with(group, limit, none), 777777792);
    limit.text = "9223372036854771712\n";
    assert_int_equal(limit_with(group, limit, none), 0);
}

static void among_groups_of_both_versions_that_of_version_two_counts(void **state)
{
    (void)state;
    struct file group = {"/proc/self/cgroup", "2:cpu:/other\n0::/mine\n1:name=x:/third\n"};
    struct file limit = {"/sys/fs/cgroup/mine/memory.max", "123456\n"};
    assert_int_equal(limit_with(group, limit, none), 123456);
}

static void no_file_and_no_number_mean_no_limit(void **state)
{
    (void)state;
    assert_int_equal(limit_with(none, none, none), 0);
    assert_int_equal(limit_with(own_group, none, none), 0);
    struct file limit = {"/sys/fs/cgroup/user.slice/my.scope/memory.max", "max\n"};
    assert_int_equal(limit_with(own_group, limit, none), 0);
    limit.text = "";
    assert_int_equal(limit_with(own_group, limit, none), 0);
}

static void a_path_too_long_for_the_buffer_is_not_cut_short(void **state)
{
    (void)state;
    char text[700] = "0::/";
    memset(text + 4, 'a', sizeof text - 6);
    text[sizeof text - 2] = '\n';
    struct file group = {"/proc/self/cgroup", text};
    struct file root = {"/sys/fs/cgroup/memory.max", "max\n"};
    assert_int_equal(limit_with(group, root, none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_that_of_the_processs_own_group),
        cmocka_unit_test(in_a_container_the_limit_stands_at_the_mounts_root),
        cmocka_unit_test(version_one_is_read_where_there_is_no_version_two),
        cmocka_unit_test(among_groups_of_both_versions_that_of_version_two_counts),
        cmocka_unit_test(no_file_and_no_number_mean_no_limit),
        cmocka_unit_test(a_path_too_long_for_the_buffer_is_not_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
