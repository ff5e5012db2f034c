// One run of a program in an environment of its own, and what it cost.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_RUN_H
#define HAK_CLI_EXPERIMENT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    RUN_CORE_ANY = -1
};

// How to run it.
struct experiment_launch {
    char **words;        // the program, found in PATH, and its arguments
    char **environment;  // all of it
    const char *folder;  // where it runs; NULL: here
    int core;            // the only one that it may run on, or RUN_CORE_ANY
    bool keeps_output;   // else what it prints on standard output is dropped
};

struct experiment_cost {
    double wall_seconds;
    double cpu_seconds;  // of the program and of its children that it waited for
    double peak_mib;     // resident, of the largest of these processes
    uint64_t fault_count;
};

struct experiment_run {
    pid_t pid;
    int start_error;  // an errno value when the program could not be started, else 0
    int wait_status;
    struct experiment_cost cost;
    char *output;  // the end of what it printed, standard error included
};

// Runs it to its end, its input empty.  A program dies with this command.  Returns false, having
// said why, when the system has no room for a run; a program that fails is no such case.
bool experiment_run_start(const struct experiment_launch *launch, struct experiment_run *run);

// Releases the output.
void experiment_run_drop(struct experiment_run *run);

// The last line that has anything on it, without its end; "" when nothing was printed.
void experiment_run_last_line(const struct experiment_run *run, char *line, size_t line_bytes);

#endif
