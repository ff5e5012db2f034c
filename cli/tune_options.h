// The command line of `hakmem tune`.
// Layer: cli.  Needs: experiment_options.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TUNE_OPTIONS_H
#define HAK_CLI_TUNE_OPTIONS_H

#include "experiment_options.h"

#include <stdbool.h>
#include <stddef.h>

struct tune_options {
    struct experiment_options common;
    const char *measure;  // NULL: what suits the program
    bool lower_is_better;
    double budget_seconds;  // 0: not bounded
    size_t most_runs;       // 0: not bounded
    const char *output;
    bool overwrites;
    bool prints_json;
};

// Ends the process on wrong usage, having said what is wrong.
void tune_options_read(int argc, char **argv, struct tune_options *options);

#endif
