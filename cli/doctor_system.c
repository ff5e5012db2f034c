// What doctor finds out about the system: huge pages, overcommit and limits.
// SPDX-License-Identifier: MIT
#include "doctor_report.h"
#include "talk.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    LINE_BYTES = 256,
    USUAL_MAP_COUNT = 65530,
    LEAST_ADDRESS_MIB = 64,
};

// The first line of a file, without its end; false when it can't be read.
static bool read_line(const char *path, char line[LINE_BYTES])
{
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return false;
    }
    bool is_read = fgets(line, LINE_BYTES, in) != NULL;
    (void)fclose(in);
    if (is_read) {
        line[strcspn(line, "\n")] = '\0';
    }
    return is_read;
}

void doctor_check_huge_pages(struct doctor_report *report)
{
    char line[LINE_BYTES];
    if (!read_line("/sys/kernel/mm/transparent_hugepage/enabled", line)) {
        doctor_say(report, FINDING_NOTE,
                   "huge pages: this kernel has none; big heaps take more time for address "
                   "translation.");
    } else if (strstr(line, "[always]") != NULL) {
        doctor_say(report, FINDING_NOTE,
                   "huge pages: always; even a small heap of hakmem's may hold more memory than it "
                   "uses. To leave the choice to programs: echo madvise > "
                   "/sys/kernel/mm/transparent_hugepage/enabled");
    } else if (strstr(line, "[never]") != NULL) {
        doctor_say(report, FINDING_NOTE,
                   "huge pages: never; hakmem's big heaps take more time for address translation, "
                   "and HAKMEM_HUGE_PAGES does nothing. To allow them: echo madvise > "
                   "/sys/kernel/mm/transparent_hugepage/enabled");
    } else {
        doctor_say(report, FINDING_OK,
                   "huge pages: madvise; hakmem asks for them when its heap is as big as "
                   "HAKMEM_HUGE_PAGES says.");
    }
}

void doctor_check_overcommit(struct doctor_report *report)
{
    char line[LINE_BYTES];
    if (!read_line("/proc/sys/vm/overcommit_memory", line)) {
        doctor_say(report, FINDING_NOTE, "overcommit: vm.overcommit_memory cannot be read.");
    } else if (strcmp(line, "2") == 0) {
        doctor_say(report, FINDING_NOTE,
                   "overcommit: strict (vm.overcommit_memory = 2); all that is mapped counts, used "
                   "or not, and malloc returns NULL earlier.");
    } else {
        doctor_say(report, FINDING_OK, "overcommit: vm.overcommit_memory = %s", line);
    }
}

void doctor_check_map_count(struct doctor_report *report)
{
    char line[LINE_BYTES];
    if (!read_line("/proc/sys/vm/max_map_count", line)) {
        doctor_say(report, FINDING_NOTE, "mappings: vm.max_map_count cannot be read.");
    } else if (strtol(line, NULL, 10) < USUAL_MAP_COUNT) {
        doctor_say(report, FINDING_PROBLEM,
                   "mappings: vm.max_map_count = %s is low, large heaps may fail to grow. Set it "
                   "to %d or more: sysctl vm.max_map_count=%d",
                   line, USUAL_MAP_COUNT, USUAL_MAP_COUNT);
    } else {
        doctor_say(report, FINDING_OK, "mappings: vm.max_map_count = %s", line);
    }
}

void doctor_check_address_limit(struct doctor_report *report)
{
    struct rlimit limit;
    char size[TALK_SIZE_BYTES];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        doctor_say(report, FINDING_OK, "address space: no limit");
        return;
    }
    (void)talk_size(size, limit.rlim_cur);
    if (limit.rlim_cur < (rlim_t)LEAST_ADDRESS_MIB << 20) {
        doctor_say(report, FINDING_PROBLEM,
                   "address space: limited to %s, too little for most programs. Raise it: "
                   "ulimit -v unlimited",
                   size);
    } else {
        doctor_say(report, FINDING_NOTE,
                   "address space: limited to %s; malloc returns NULL when it is used up.", size);
    }
}

// Finds the path of this process in the hierarchy: the unified one, or that of the memory
// controller in the older form.
static bool find_cgroup(char path[PATH_MAX], bool *is_unified)
{
    char *line = NULL;
    size_t line_bytes = 0;
    bool is_found = false;
    FILE *in = fopen("/proc/self/cgroup", "re");
    if (in == NULL) {
        return false;
    }
    while (getline(&line, &line_bytes, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *controllers = strchr(line, ':');
        const char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        bool has_memory = name != NULL && strncmp(controllers, ":memory:", 8) == 0;
        if (name != NULL && (has_memory || (!is_found && name == controllers + 1))) {
            (void)snprintf(path, PATH_MAX, "%s", name + 1);
            *is_unified = !has_memory;
            is_found = true;
        }
    }
    free(line);
    (void)fclose(in);
    return is_found;
}

// The least limit of the group and of those that it lies in; UINT64_MAX when there is none.
static uint64_t read_cgroup_limit(char path[PATH_MAX], bool is_unified)
{
    const char *root = is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char *name = is_unified ? "memory.max" : "memory.limit_in_bytes";
    uint64_t least = UINT64_MAX;
    while (true) {
        char file[2 * PATH_MAX];
        char line[LINE_BYTES];
        (void)snprintf(file, sizeof file, "%s%s/%s", root, path, name);
        if (read_line(file, line) && line[0] >= '0' && line[0] <= '9') {
            uint64_t limit = strtoull(line, NULL, 10);
            least = limit < least ? limit : least;
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
    }
    // The older form writes "none" as the largest multiple of a page.
    return least >= (uint64_t)INT64_MAX - (1 << 20) ? UINT64_MAX : least;
}

void doctor_check_cgroup(struct doctor_report *report)
{
    char path[PATH_MAX];
    char size[TALK_SIZE_BYTES];
    bool is_unified = false;
    if (!find_cgroup(path, &is_unified)) {
        doctor_say(report, FINDING_OK, "control group: none");
        return;
    }
    uint64_t limit = read_cgroup_limit(path, is_unified);
    if (limit == UINT64_MAX) {
        doctor_say(report, FINDING_OK, "control group: no memory limit");
    } else {
        doctor_say(report, FINDING_NOTE,
                   "control group: memory limited to %s, beyond which the kernel kills. With "
                   "HAKMEM_LIMIT=auto malloc returns NULL instead.",
                   talk_size(size, limit));
    }
}
