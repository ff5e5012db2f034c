// SPDX-License-Identifier: MIT
#include "os/os_cgroup.h"

#include "base/text.h"
#include "os/os_process.h"

#include <stdbool.h>
#include <string.h>

enum {
    PATH_BYTES = 512,
    FILE_BYTES = 1024,
    NUMBER_BYTES = 32,
};

// The number in a file like memory.max; 0 for "max", for no number, or for no file.
static uint64_t read_limit(const char *path)
{
    char digits[NUMBER_BYTES];
    long length = os_read_file(path, digits, sizeof digits);
    uint64_t number = 0;
    for (long i = 0; i < length && digits[i] >= '0' && digits[i] <= '9'; i++) {
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    // Version 1 writes a huge number for "no limit".
    return number > INT64_MAX / 2 ? 0 : number;
}

static uint64_t read_limit_in(const char *mount, const char *group, const char *file)
{
    char buffer[PATH_BYTES];
    struct text path = text_start(buffer, sizeof buffer);
    text_add(&path, mount);
    text_add(&path, group);
    text_add(&path, "/");
    text_add(&path, file);
    return path.length < path.capacity ? read_limit(buffer) : 0;
}

// The group that a line of /proc/self/cgroup names after `key`, cut out in place, or NULL.
static const char *find_group(char *lines, const char *key)
{
    char *group = strstr(lines, key);
    if (group == NULL) {
        return NULL;
    }
    group += strlen(key);
    char *end = strchr(group, '\n');
    if (end != NULL) {
        *end = '\0';
    }
    return group;
}

uint64_t os_cgroup_memory_limit(void)
{
    char lines[FILE_BYTES];
    long length = os_read_file("/proc/self/cgroup", lines, sizeof lines - 1);
    lines[length > 0 ? length : 0] = '\0';
    const char *group = find_group(lines, "0::");
    uint64_t limit = group != NULL ? read_limit_in("/sys/fs/cgroup", group, "memory.max") : 0;
    if (limit == 0) {
        limit = read_limit("/sys/fs/cgroup/memory.max");
    }
    if (limit == 0) {
        limit = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    }
    return limit;
}
