// The options that all experiments share: what to run, and where and in which order.
// Layer: cli.  Needs: abtest, experiment, experiment_refuse, experiment_workload, program_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_OPTIONS_H
#define HAK_CLI_EXPERIMENT_OPTIONS_H

#include "experiment_measure.h"
#include "experiment_workload.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXPERIMENT_LIST_MOST = 64,
    EXPERIMENT_CORE_CHOSEN = -1,  // by us
};

// Words that an option gave, one by one.
struct experiment_list {
    size_t count;
    char *words[EXPERIMENT_LIST_MOST];
};

struct experiment_options {
    char **argv;   // the whole command line, for the record
    char **words;  // the program after --, or NULL
    const char *workload;
    struct experiment_list variables;  // handed on: NAME or NAME=value
    uint64_t seed;
    int core;
    bool is_pinned;
    bool shows_progress;  // even where standard error is no terminal
};

// --workload, --env, --core, --no-pin, --progress, --seed and the program.
void experiment_options_start(struct experiment_options *options, char **argv);

// The common ones, for a subcommand's own to have as a child: its parser hands them a struct
// experiment_options as their input at ARGP_KEY_INIT.
extern const struct argp experiment_options_argp;

// Reads a command line; `input` is that of the parser.
void experiment_options_run(const struct argp *argp, int argc, char **argv, void *input);

// Reads a command line with the subcommand's own options and the common ones.
void experiment_options_parse(int argc, char **argv, const struct argp_option *own,
                              argp_parser_t parser, void *input);

// What can be seen to be wrong once all options are read.  Ends the process then, as the functions
// below do for an option's text.
void experiment_options_check(const struct experiment_options *options);

// The same without what is to be run.
void experiment_options_check_settings(const struct experiment_options *options);

// Prints a subcommand's help and ends the process.
_Noreturn void experiment_options_help(const char *help);

// Refuses a document and a record that both go to standard output.
void experiment_options_check_outputs(bool prints_json, bool prints_record);

// The name of a file to write.
const char *experiment_options_file(const char *option, const char *text);

// Refuses a place for a record, or NULL, where something else is already.
void experiment_options_check_record(const char *path, bool overwrites);

uint64_t experiment_options_number(const char *option, const char *text, uint64_t least,
                                   uint64_t most);
size_t experiment_options_rounds(const char *option, const char *text);
void experiment_options_add(const char *option, struct experiment_list *list, char *word);

// What the options ask for.  Each returns an exit status, having said what is wrong.
int experiment_options_find_core(const struct experiment_options *options, int *core);
int experiment_options_find_program(const struct experiment_options *options,
                                    struct experiment_workload *workload, char ***words);

// `text`: what --measure says; NULL: throughput of a workload, time of a program.
int experiment_options_find_measure(const struct experiment_options *options, const char *text,
                                    bool lower_is_better, struct experiment_measure *measure);

// False, having said why, when a library can't be preloaded into the program.
bool experiment_options_can_preload(const char *program);

#endif
