// SPDX-License-Identifier: MIT
#include "ab_options.h"

#include "abtest/abtest.h"
#include "command.h"
#include "experiment_refuse.h"
#include "policy/gate_text.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_A = 'a',
    OPTION_B = 'b',
    OPTION_HELP = 'h',
    OPTION_GATE = 256,
    OPTION_ALL_GATES,
    OPTION_PROFILE,
    OPTION_MEASURE,
    OPTION_LOWER,
    OPTION_RUNS,
    OPTION_UNTIL_DECIDED,
    OPTION_MOST,
    OPTION_MARKDOWN,
    OPTION_JSON,
    OPTION_PLOT,
    OPTION_FORCE,
    OPTION_PROMOTE,
    OPTION_SOURCE,

    ROUNDS_USUAL = 10,
    MOST_ROUNDS_USUAL = 100,
};

static const struct argp_option option_table[] = {
    {"a", OPTION_A, "SETTINGS", 0, NULL, 0},
    {"b", OPTION_B, "SETTINGS", 0, NULL, 0},
    {"gate", OPTION_GATE, "GATE", 0, NULL, 0},
    {"all-gates", OPTION_ALL_GATES, NULL, 0, NULL, 0},
    {"profile", OPTION_PROFILE, "NAME", 0, NULL, 0},
    {"measure", OPTION_MEASURE, "WHAT", 0, NULL, 0},
    {"lower-is-better", OPTION_LOWER, NULL, 0, NULL, 0},
    {"runs", OPTION_RUNS, "N", 0, NULL, 0},
    {"until-decided", OPTION_UNTIL_DECIDED, NULL, 0, NULL, 0},
    {"most", OPTION_MOST, "N", 0, NULL, 0},
    {"markdown", OPTION_MARKDOWN, "FILE", OPTION_ARG_OPTIONAL, NULL, 0},
    {"json", OPTION_JSON, NULL, 0, NULL, 0},
    {"plot", OPTION_PLOT, "FILE", 0, NULL, 0},
    {"force", OPTION_FORCE, NULL, 0, NULL, 0},
    {"promote", OPTION_PROMOTE, NULL, 0, NULL, 0},
    {"source", OPTION_SOURCE, "FOLDER", 0, NULL, 0},
    {"help", OPTION_HELP, NULL, 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

// argp's own list has a line for each option, which is more than fits a screen.
static const char help[] =
    "Usage: hakmem ab [--a GATE=V,...] --b GATE=V,... [OPTION...] [-- PROGRAM...]\n"
    "Runs a program under settings A and B in turns, and tells whether B is better.\n"
    "\n"
    "  --a, --b GATE=V,...    the sides; without --a: as --profile or nothing sets\n"
    "  --gate GATE[=V]        instead of --b: try this gate; again for more of them\n"
    "  --all-gates            try every gate\n"
    "  --profile NAME         both sides start from this profile\n"
    "  --workload mixed       the standard run, in place of a program\n"
    "  --measure WHAT         throughput, time, cpu, rss, faults, or NAME=regex, its\n"
    "                         figure in parentheses; --lower-is-better for a cost\n"
    "  --runs N               rounds of A, B and A again (10)\n"
    "  --until-decided        go on until there is a verdict, up to --most N (100)\n"
    "  --core N, --no-pin     run on this core, or on all (without: on the last one)\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed N   progress off a terminal too; the order of the runs\n"
    "  --markdown[=FILE]      a record as in docs/analysis/; --force over any file\n"
    "  --json, --plot FILE    one JSON document; an SVG of every run, by gnuplot\n"
    "  --promote              after a GO, write B into the profile in --source FOLDER\n"
    "\n"
    "A ratio above 1 always means that B is better. See man hakmem, docs/guide/ab.md.\n";

// GATE=V,GATE=V
static void add_settings(const char *option, struct experiment_list *list, const char *text)
{
    struct slice rest = slice_of(text);
    do {
        struct slice word = slice_cut(&rest, ',');
        const char *equals = memchr(word.start, '=', word.length);
        if (equals == NULL || equals == word.start) {
            experiment_refuse(
                "%s %.*s is not a setting. Give GATE=value, e.g. %s dirty_limit=16MiB.", option,
                (int)word.length, word.start, option);
        }
        experiment_options_add(option, list, strndup(word.start, word.length));
    } while (rest.length > 0);
}

static bool read_side_option(int key, char *argument, struct ab_options *options)
{
    switch (key) {
    case OPTION_A:
        add_settings("--a", &options->a, argument);
        return true;
    case OPTION_B:
        options->has_b = true;
        add_settings("--b", &options->b, argument);
        return true;
    case OPTION_GATE:
        experiment_options_add("--gate", &options->gates, argument);
        return true;
    case OPTION_ALL_GATES:
        options->has_all_gates = true;
        return true;
    case OPTION_PROFILE:
        options->profile = argument;
        return true;
    default:
        return false;
    }
}

static bool read_run_option(int key, const char *argument, struct ab_options *options)
{
    switch (key) {
    case OPTION_MEASURE:
        options->measure = argument;
        return true;
    case OPTION_LOWER:
        options->lower_is_better = true;
        return true;
    case OPTION_RUNS:
        options->rounds = experiment_options_rounds("--runs", argument);
        return true;
    case OPTION_UNTIL_DECIDED:
        options->is_until_decided = true;
        return true;
    case OPTION_MOST:
        options->most_rounds = experiment_options_rounds("--most", argument);
        return true;
    default:
        return false;
    }
}

static bool read_output_option(int key, const char *argument, struct ab_options *options)
{
    switch (key) {
    case OPTION_MARKDOWN:
        options->prints_record |= argument == NULL;
        options->record_path = argument != NULL ? experiment_options_file("--markdown", argument)
                                                : options->record_path;
        return true;
    case OPTION_JSON:
        options->prints_json = true;
        return true;
    case OPTION_PLOT:
        options->plot_path = experiment_options_file("--plot", argument);
        return true;
    case OPTION_FORCE:
        options->overwrites = true;
        return true;
    case OPTION_PROMOTE:
        options->promotes = true;
        return true;
    case OPTION_SOURCE:
        options->source = argument;
        return true;
    case OPTION_HELP:
        experiment_options_help(help);
    default:
        return false;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct ab_options *options = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &options->common;
        return 0;
    }
    bool is_known = read_side_option(key, argument, options) ||
                    read_run_option(key, argument, options) ||
                    read_output_option(key, argument, options);
    return is_known ? 0 : ARGP_ERR_UNKNOWN;
}

static void check_sides(const struct ab_options *options)
{
    bool tries_gates = options->gates.count > 0 || options->has_all_gates;
    if (options->has_b && tries_gates) {
        experiment_refuse("--b and --gate are two ways to say what side B is. Give one of them.");
    }
    if (options->gates.count > 0 && options->has_all_gates) {
        experiment_refuse("--all-gates includes every --gate. Give one of them.");
    }
    if (!options->has_b && !tries_gates) {
        experiment_refuse("There is no side B. Give --b GATE=value, --gate GATE, or --all-gates.");
    }
}

static void check_plan(const struct ab_options *options)
{
    experiment_options_check(&options->common);
    if (options->is_until_decided && options->rounds < ABTEST_PAIRS_PROVING) {
        experiment_refuse(
            "--until-decided looks first after --runs rounds; fewer than %d prove nothing.",
            ABTEST_PAIRS_PROVING);
    }
    if (options->is_until_decided && options->most_rounds < options->rounds) {
        experiment_refuse("--most %zu is below the first look, which is after --runs %zu rounds.",
                          options->most_rounds, options->rounds);
    }
    experiment_options_check_outputs(options->prints_json, options->prints_record);
    experiment_options_check_record(options->record_path, options->overwrites);
}

static void check_promotion(const struct ab_options *options)
{
    if (!options->promotes) {
        return;
    }
    if (options->record_path == NULL) {
        experiment_refuse(
            "Nothing is promoted without a record. Give --markdown=docs/analysis/FILE.md.");
    }
    if (options->profile == NULL) {
        experiment_refuse("--promote writes into a profile. Give --profile NAME.");
    }
    if (options->a.count > 0) {
        experiment_refuse("--promote compares B with the profile as it stands. Leave --a out.");
    }
    if (!options->has_b) {
        experiment_refuse(
            "--promote takes one comparison: what several gates do together was not tried. "
            "Give --b.");
    }
}

void ab_options_read(int argc, char **argv, struct ab_options *options)
{
    *options = (struct ab_options){
        .rounds = ROUNDS_USUAL,
        .most_rounds = MOST_ROUNDS_USUAL,
        .source = ".",
    };
    experiment_options_start(&options->common, argv);
    experiment_options_parse(argc, argv, option_table, parse_option, options);
    check_sides(options);
    check_plan(options);
    check_promotion(options);
}
