// SPDX-License-Identifier: MIT
#include "replay_options.h"

#include "experiment_refuse.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_TOUCH = 512,  // beyond those of compare
    OPTION_TIMES,
    OPTION_PLAN,

    TIMES_MOST = 1000000,
};

static const struct argp_option option_table[] = {
    {"touch", OPTION_TOUCH, "WHAT", 0, NULL, 0},
    {"times", OPTION_TIMES, "N", 0, NULL, 0},
    {"plan", OPTION_PLAN, "FILE", 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: hakmem replay [OPTION...] FILE\n"
    "Does what a program did when hakmem record wrote FILE, on several allocators in\n"
    "turns, and tells what each costs it.\n"
    "\n"
    "  --allocators LIST      as for hakmem compare: of system, hakmem, mimalloc,\n"
    "                         jemalloc, tcmalloc and NAME=FILE.so, with commas\n"
    "  --rounds N             rounds of all of them and the first again (10)\n"
    "  --times N              each run does all of it N times (1)\n"
    "  --touch WHAT           what is written of a new block: pages (without: the\n"
    "                         first byte of each page), first (byte), none\n"
    "  --core N, --no-pin     run on this core, or on all (without: a trace of one\n"
    "                         thread on the last core, others on all)\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed, --markdown, --force, --json, --plot\n"
    "                         as for hakmem compare\n"
    "  --plan FILE            run nothing: write what bench_replay takes\n"
    "\n"
    "Time, CPU, peak memory and page faults are costs: a ratio below 1 is better.\n"
    "See man hakmem, docs/guide/compare.md.\n";

static void read_touch(const char *argument, struct replay_options *options)
{
    static const char *const words[] = {"pages", "first", "none"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(argument, words[i]) == 0) {
            (void)snprintf(options->touch, sizeof options->touch, "--touch=%s", argument);
            return;
        }
    }
    experiment_refuse("--touch %s is not something to write. Give pages, first or none.", argument);
}

static void read_times(const char *argument, struct replay_options *options)
{
    uint64_t times = experiment_options_number("--times", argument, 1, TIMES_MOST);
    (void)snprintf(options->times, sizeof options->times, "--times=%u", (unsigned)times);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct replay_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->compare;
        return 0;
    case ARGP_KEY_ARG:
        if (options->trace != NULL) {
            experiment_refuse("%s and %s are two traces. Give one of them.", options->trace,
                              argument);
        }
        options->trace = argument;
        return 0;
    case OPTION_TOUCH:
        read_touch(argument, options);
        return 0;
    case OPTION_TIMES:
        read_times(argument, options);
        return 0;
    case OPTION_PLAN:
        options->plan_path = experiment_options_file("--plan", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void replay_options_read(int argc, char **argv, struct replay_options *options)
{
    static const struct argp_child children[] = {{&compare_options_argp, 0, NULL, 0},
                                                 {NULL, 0, NULL, 0}};
    static const struct argp argp = {
        .options = option_table, .parser = parse_option, .children = children};
    *options = (struct replay_options){.trace = NULL};
    compare_options_start(&options->compare, argv, help);
    experiment_options_run(&argp, argc, argv, options);
    if (options->compare.common.workload != NULL) {
        experiment_refuse("--workload is for hakmem compare. Give the file of a trace.");
    }
    if (options->trace == NULL) {
        experiment_refuse("There is nothing to replay. Give a file that hakmem record wrote.");
    }
    options->compare.common.words = &options->trace;
    compare_options_check(&options->compare);
}
