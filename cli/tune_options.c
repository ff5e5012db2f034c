// SPDX-License-Identifier: MIT
#include "tune_options.h"

#include "command.h"
#include "experiment_refuse.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    OPTION_HELP = 'h',
    OPTION_MEASURE = 256,
    OPTION_LOWER,
    OPTION_BUDGET,
    OPTION_MOST,
    OPTION_OUTPUT,
    OPTION_FORCE,
    OPTION_JSON,

    BUDGET_MOST = 7 * 24 * 3600,
    RUNS_MOST = 1000000,
};

static const struct argp_option option_table[] = {
    {"measure", OPTION_MEASURE, "WHAT", 0, NULL, 0},
    {"lower-is-better", OPTION_LOWER, NULL, 0, NULL, 0},
    {"budget", OPTION_BUDGET, "SECONDS", 0, NULL, 0},
    {"most", OPTION_MOST, "N", 0, NULL, 0},
    {"output", OPTION_OUTPUT, "FILE", 0, NULL, 0},
    {"force", OPTION_FORCE, NULL, 0, NULL, 0},
    {"json", OPTION_JSON, NULL, 0, NULL, 0},
    {"help", OPTION_HELP, NULL, 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: hakmem tune [OPTION...] [-- PROGRAM...]\n"
    "Looks for settings that help a program, and writes them into ./hakmem.profile.\n"
    "\n"
    "  --measure WHAT         throughput, time, cpu, rss, faults, or NAME=regex, its\n"
    "                         figure in parentheses; --lower-is-better for a cost\n"
    "  --budget SECONDS       about as long as this (without: as all tries take)\n"
    "  --most N               at most so many runs\n"
    "  --output FILE          another file; --force overwrites one\n"
    "  --json                 one JSON document in place of the table\n"
    "  --workload mixed       the standard run, in place of a program\n"
    "  --core N, --no-pin     run on this core, or on all (without: on the last one)\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed N   progress off a terminal too; the order of the runs\n"
    "\n"
    "Losers are dropped early; the winner is confirmed by runs that took no part in\n"
    "the choice. If nothing helps beyond noise, it says so and writes nothing.\n"
    "See man hakmem, docs/guide/compare.md.\n";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct tune_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case OPTION_MEASURE:
        options->measure = argument;
        return 0;
    case OPTION_LOWER:
        options->lower_is_better = true;
        return 0;
    case OPTION_BUDGET:
        options->budget_seconds =
            (double)experiment_options_number("--budget", argument, 1, BUDGET_MOST);
        return 0;
    case OPTION_MOST:
        options->most_runs = experiment_options_number("--most", argument, 1, RUNS_MOST);
        return 0;
    case OPTION_OUTPUT:
        options->output = argument;
        return 0;
    case OPTION_FORCE:
        options->overwrites = true;
        return 0;
    case OPTION_JSON:
        options->prints_json = true;
        return 0;
    case OPTION_HELP:
        experiment_options_help(help);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void tune_options_read(int argc, char **argv, struct tune_options *options)
{
    *options = (struct tune_options){.output = "hakmem.profile"};
    experiment_options_start(&options->common, argv);
    experiment_options_parse(argc, argv, option_table, parse_option, options);
    experiment_options_check(&options->common);
    if (options->budget_seconds > 0 && options->most_runs > 0) {
        experiment_refuse("--budget and --most are two bounds for one thing. Give one of them.");
    }
    if (!options->overwrites && access(options->output, F_OK) == 0) {
        experiment_refuse("%s is there already. Give --force to overwrite it, or --output FILE.",
                          options->output);
    }
}
