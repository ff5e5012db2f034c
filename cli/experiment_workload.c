// SPDX-License-Identifier: MIT
#include "experiment_workload.h"

#include "command.h"
#include "near_file.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int experiment_workload_find(const char *name, struct experiment_workload *workload)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        if (strcmp(name, workloads[i].name) != 0) {
            continue;
        }
        if (!near_file_find("bench", workloads[i].program, workload->path)) {
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
