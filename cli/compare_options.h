// The command line of `hakmem compare`.
// Layer: cli.  Needs: experiment_options.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_COMPARE_OPTIONS_H
#define HAK_CLI_COMPARE_OPTIONS_H

#include "experiment_options.h"

#include <stdbool.h>
#include <stddef.h>

struct compare_options {
    struct experiment_options common;
    const char *help;        // of the subcommand
    const char *allocators;  // NULL: all that are known
    size_t rounds;
    const char *record_path;  // NULL: no record in a file
    const char *plot_path;
    bool overwrites;  // what is in the record's place
    bool prints_json;
    bool prints_record;  // instead of the table
};

// The options themselves, also for a subcommand that has more: its parser hands them a struct
// compare_options, started, as their input at ARGP_KEY_INIT.
extern const struct argp compare_options_argp;
void compare_options_start(struct compare_options *options, char **argv, const char *help);

// What can be seen to be wrong once all options are read; ends the process then.
void compare_options_check(const struct compare_options *options);

// All of `hakmem compare`.  Ends the process on wrong usage, having said what is wrong.
void compare_options_read(int argc, char **argv, struct compare_options *options);

#endif
