// The command line of `hakmem bench`.
// Layer: cli.  Needs: experiment_options, suite_workloads.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_OPTIONS_H
#define HAK_CLI_SUITE_OPTIONS_H

#include "experiment_options.h"
#include "suite_workloads.h"

struct suite_options {
    struct experiment_options common;
    bool is_chosen[SUITE_COUNT];
    bool runs_all;           // of what is there
    const char *only;        // names of rows, with commas; NULL: all of the suite
    const char *allocators;  // NULL: all that are known
    size_t rounds;
    const char *mimalloc_bench;  // the folder of its programs, or NULL
    const char *json_path;       // NULL: not written; so for the others
    const char *record_path;
    const char *plot_path;
    const char *html_path;
    const char *notes_path;  // sentences about rows, for the record
    bool times_calls;        // of malloc and free, in runs of their own
    bool overwrites;         // what is in the record's place
};

// Ends the process on wrong usage, having said what is wrong.
void suite_options_read(int argc, char **argv, struct suite_options *options);

// True when a row was asked for.
bool suite_options_want(const struct suite_options *options, const struct suite_workload *workload);

#endif
