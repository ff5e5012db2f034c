// The command line of `hakmem ab`.
// Layer: cli.  Needs: abtest, experiment_options, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_OPTIONS_H
#define HAK_CLI_AB_OPTIONS_H

#include "experiment_options.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_options {
    struct experiment_options common;
    const char *profile;
    const char *measure;           // NULL: what suits the program
    struct experiment_list a;      // GATE=value
    struct experiment_list b;      //
    struct experiment_list gates;  // GATE or GATE=value, each a comparison
    size_t rounds;
    size_t most_rounds;
    const char *record_path;  // NULL: no record in a file
    const char *plot_path;
    bool overwrites;  // what is in the record's place
    const char *source;
    bool has_b;
    bool has_all_gates;
    bool lower_is_better;
    bool is_until_decided;
    bool prints_json;
    bool prints_record;  // instead of the table
    bool promotes;
};

// Ends the process on wrong usage, having said what is wrong.
void ab_options_read(int argc, char **argv, struct ab_options *options);

#endif
