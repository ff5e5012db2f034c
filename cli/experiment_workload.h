// Workloads that come with hakmem, by name.
// Layer: cli.  Needs: talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_WORKLOAD_H
#define HAK_CLI_EXPERIMENT_WORKLOAD_H

#include <limits.h>
#include <stdbool.h>

enum {
    WORKLOAD_WORDS = 6,
};

struct experiment_workload {
    char path[PATH_MAX];
    char *words[WORKLOAD_WORDS];  // the path and the arguments, ended by NULL
};

// "mixed": the standard run of bench_random_mixed.  Returns EXIT_SUCCESS, or an exit status, having
// said what is wrong: there is no such workload, or its program is neither beside this command in
// a build tree nor installed.
int experiment_workload_find(const char *name, struct experiment_workload *workload);

#endif
