// SPDX-License-Identifier: MIT
#include "experiment_workload.h"

#include "command.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ARGUMENTS_MOST = WORKLOAD_WORDS - 2
};

static const struct {
    const char *name;
    const char *program;
    const char *arguments[ARGUMENTS_MOST];
} workloads[] = {
    {"mixed", "bench_random_mixed", {"20000000", "400", "1"}},
};

enum {
    WORKLOAD_COUNT = sizeof workloads / sizeof workloads[0]
};

// Seen from the folder of this command: a build tree, an installation, all in one folder.
static const char *const near_folders[] = {"../bench", HAKMEM_NEAR_LIBEXECDIR, "."};

static bool find_program(const char *program, char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) {
        return false;
    }
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof near_folders / sizeof near_folders[0]; i++) {
        char candidate[PATH_MAX];
        int path_length =
            snprintf(candidate, sizeof candidate, "%s/%s/%s", own, near_folders[i], program);
        if (path_length < PATH_MAX && access(candidate, X_OK) == 0) {
            return realpath(candidate, path) != NULL;
        }
    }
    return false;
}

int experiment_workload_find(const char *name, struct experiment_workload *workload)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        if (strcmp(name, workloads[i].name) != 0) {
            continue;
        }
        if (!find_program(workloads[i].program, workload->path)) {
            talk_say("%s was not found near this command. Build or install hakmem whole, or name "
                     "the program after --.",
                     workloads[i].program);
            return EXIT_TOOL_FAILED;
        }
        size_t word_count = 0;
        workload->words[word_count++] = workload->path;
        for (size_t arg = 0; arg < ARGUMENTS_MOST && workloads[i].arguments[arg] != NULL; arg++) {
            workload->words[word_count++] = strdup(workloads[i].arguments[arg]);
        }
        workload->words[word_count] = NULL;
        return EXIT_SUCCESS;
    }
    talk_say("--workload %s is not a workload. Give mixed, or name a program after --.", name);
    return EXIT_WRONG_USAGE;
}
