// The command line of `hakmem ab`.
// Layer: cli.  Needs: abtest, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_OPTIONS_H
#define HAK_CLI_AB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_LIST_MOST = 64,
    AB_CORE_CHOSEN = -1,  // by us
};

// Words that an option gave, one by one.
struct ab_list {
    size_t count;
    char *words[AB_LIST_MOST];
};

struct ab_options {
    char **argv;   // the whole command line, for the record
    char **words;  // the program after --, or NULL
    const char *workload;
    const char *profile;
    const char *measure;       // NULL: what suits the program
    struct ab_list a;          // GATE=value
    struct ab_list b;          //
    struct ab_list gates;      // GATE or GATE=value, each a comparison
    struct ab_list variables;  // handed on: NAME or NAME=value
    size_t rounds;
    size_t most_rounds;
    uint64_t seed;
    const char *record_path;  // NULL: no record in a file
    const char *plot_path;
    const char *source;
    int core;
    bool has_b;
    bool has_all_gates;
    bool lower_is_better;
    bool is_until_decided;
    bool is_pinned;
    bool shows_progress;  // even where standard error is no terminal
    bool prints_json;
    bool prints_record;  // instead of the table
    bool promotes;
};

// Ends the process on wrong usage, having said what is wrong.
void ab_options_read(int argc, char **argv, struct ab_options *options);

#endif
