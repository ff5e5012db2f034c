// SPDX-License-Identifier: MIT
#include "compare_options.h"

#include "command.h"
#include "experiment_refuse.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OPTION_HELP = 'h',
    OPTION_ALLOCATORS = 256,
    OPTION_ROUNDS,
    OPTION_MARKDOWN,
    OPTION_JSON,
    OPTION_PLOT,
    OPTION_FORCE,

    ROUNDS_USUAL = 10,
};

static const struct argp_option option_table[] = {
    {"allocators", OPTION_ALLOCATORS, "LIST", 0, NULL, 0},
    {"rounds", OPTION_ROUNDS, "N", 0, NULL, 0},
    {"markdown", OPTION_MARKDOWN, "FILE", OPTION_ARG_OPTIONAL, NULL, 0},
    {"json", OPTION_JSON, NULL, 0, NULL, 0},
    {"plot", OPTION_PLOT, "FILE", 0, NULL, 0},
    {"force", OPTION_FORCE, NULL, 0, NULL, 0},
    {"help", OPTION_HELP, NULL, 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: hakmem compare [OPTION...] [-- PROGRAM...]\n"
    "Runs a program on several allocators in turns, and tells what each costs it.\n"
    "\n"
    "  --allocators LIST      of system, hakmem, mimalloc, jemalloc, tcmalloc and\n"
    "                         NAME=FILE.so, with commas; the first is what the others\n"
    "                         are compared with; hakmem always takes part (without:\n"
    "                         all that are installed)\n"
    "  --rounds N             rounds of all of them and the first again (10)\n"
    "  --workload mixed       the standard run, in place of a program\n"
    "  --core N, --no-pin     run on this core, or on all (without: on the last one)\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed N   progress off a terminal too; the order of the runs\n"
    "  --markdown[=FILE]      a record as in docs/analysis/; --force over any file\n"
    "  --json, --plot FILE    one JSON document; an SVG of the ratios, by gnuplot\n"
    "\n"
    "Time, CPU, peak memory and page faults are costs: a ratio below 1 is better.\n"
    "See man hakmem, docs/guide/compare.md.\n";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct compare_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case OPTION_ALLOCATORS:
        options->allocators = argument;
        return 0;
    case OPTION_ROUNDS:
        options->rounds = experiment_options_rounds("--rounds", argument);
        return 0;
    case OPTION_MARKDOWN:
        options->prints_record |= argument == NULL;
        options->record_path = argument != NULL ? experiment_options_file("--markdown", argument)
                                                : options->record_path;
        return 0;
    case OPTION_JSON:
        options->prints_json = true;
        return 0;
    case OPTION_PLOT:
        options->plot_path = experiment_options_file("--plot", argument);
        return 0;
    case OPTION_FORCE:
        options->overwrites = true;
        return 0;
    case OPTION_HELP:
        experiment_options_help(options->help);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child option_children[] = {{&experiment_options_argp, 0, NULL, 0},
                                                    {NULL, 0, NULL, 0}};

const struct argp compare_options_argp = {
    .options = option_table, .parser = parse_option, .children = option_children};

void compare_options_start(struct compare_options *options, char **argv, const char *own_help)
{
    *options = (struct compare_options){.help = own_help, .rounds = ROUNDS_USUAL};
    experiment_options_start(&options->common, argv);
}

void compare_options_check(const struct compare_options *options)
{
    experiment_options_check(&options->common);
    experiment_options_check_outputs(options->prints_json, options->prints_record);
    experiment_options_check_record(options->record_path, options->overwrites);
}

void compare_options_read(int argc, char **argv, struct compare_options *options)
{
    compare_options_start(options, argv, help);
    experiment_options_run(&compare_options_argp, argc, argv, options);
    compare_options_check(options);
}
