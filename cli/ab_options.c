// SPDX-License-Identifier: MIT
#include "ab_options.h"

#include "abtest/abtest.h"
#include "command.h"
#include "experiment_refuse.h"
#include "policy/gate_text.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    OPTION_A = 'a',
    OPTION_B = 'b',
    OPTION_HELP = 'h',
    OPTION_GATE = 256,
    OPTION_ALL_GATES,
    OPTION_PROFILE,
    OPTION_WORKLOAD,
    OPTION_MEASURE,
    OPTION_LOWER,
    OPTION_ENV,
    OPTION_RUNS,
    OPTION_UNTIL_DECIDED,
    OPTION_MOST,
    OPTION_CORE,
    OPTION_NO_PIN,
    OPTION_PROGRESS,
    OPTION_SEED,
    OPTION_MARKDOWN,
    OPTION_JSON,
    OPTION_PLOT,
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
    {"workload", OPTION_WORKLOAD, "NAME", 0, NULL, 0},
    {"measure", OPTION_MEASURE, "WHAT", 0, NULL, 0},
    {"lower-is-better", OPTION_LOWER, NULL, 0, NULL, 0},
    {"env", OPTION_ENV, "NAME", 0, NULL, 0},
    {"runs", OPTION_RUNS, "N", 0, NULL, 0},
    {"until-decided", OPTION_UNTIL_DECIDED, NULL, 0, NULL, 0},
    {"most", OPTION_MOST, "N", 0, NULL, 0},
    {"core", OPTION_CORE, "N", 0, NULL, 0},
    {"no-pin", OPTION_NO_PIN, NULL, 0, NULL, 0},
    {"progress", OPTION_PROGRESS, NULL, 0, NULL, 0},
    {"seed", OPTION_SEED, "N", 0, NULL, 0},
    {"markdown", OPTION_MARKDOWN, "FILE", OPTION_ARG_OPTIONAL, NULL, 0},
    {"json", OPTION_JSON, NULL, 0, NULL, 0},
    {"plot", OPTION_PLOT, "FILE", 0, NULL, 0},
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
    "  --measure WHAT         throughput, time, cpu, rss, or NAME=regex with a figure\n"
    "                         in parentheses; --lower-is-better when it is a cost\n"
    "  --runs N               rounds of A, B and A again (10)\n"
    "  --until-decided        go on until there is a verdict, up to --most N (100)\n"
    "  --core N, --no-pin     run on this core, or on all (without: on the last one)\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed N   progress off a terminal too; the order of the runs\n"
    "  --markdown[=FILE]      a record in the form of docs/analysis/\n"
    "  --json, --plot FILE    one JSON document; an SVG of every run, by gnuplot\n"
    "  --promote              after a GO, write B into the profile in --source FOLDER\n"
    "\n"
    "A ratio above 1 always means that B is better. See man hakmem, docs/guide/ab.md.\n";

static uint64_t read_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most) {
        experiment_refuse("%s %s is not a number that it takes. Give %llu to %llu.", option, text,
                          (unsigned long long)least, (unsigned long long)most);
    }
    return number;
}

static uint64_t read_runs(const char *option, const char *text)
{
    if (strcmp(text, "1") == 0) {
        experiment_refuse(
            "%s 1 says nothing: without a second run nobody knows the noise. Give at least %d, "
            "better 10.",
            option, ABTEST_PAIRS_LEAST);
    }
    return read_number(option, text, ABTEST_PAIRS_LEAST, ABTEST_PAIRS_MOST);
}

static void add_word(const char *option, struct ab_list *list, char *word)
{
    if (list->count == AB_LIST_MOST) {
        experiment_refuse("%s: more than %d of them.", option, AB_LIST_MOST);
    }
    list->words[list->count++] = word;
}

// GATE=V,GATE=V
static void add_settings(const char *option, struct ab_list *list, const char *text)
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
        add_word(option, list, strndup(word.start, word.length));
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
        add_word("--gate", &options->gates, argument);
        return true;
    case OPTION_ALL_GATES:
        options->has_all_gates = true;
        return true;
    case OPTION_PROFILE:
        options->profile = argument;
        return true;
    case OPTION_ENV:
        add_word("--env", &options->variables, argument);
        return true;
    default:
        return false;
    }
}

static bool read_run_option(int key, const char *argument, struct ab_options *options)
{
    switch (key) {
    case OPTION_WORKLOAD:
        options->workload = argument;
        return true;
    case OPTION_MEASURE:
        options->measure = argument;
        return true;
    case OPTION_LOWER:
        options->lower_is_better = true;
        return true;
    case OPTION_RUNS:
        options->rounds = read_runs("--runs", argument);
        return true;
    case OPTION_UNTIL_DECIDED:
        options->is_until_decided = true;
        return true;
    case OPTION_MOST:
        options->most_rounds = read_runs("--most", argument);
        return true;
    case OPTION_CORE:
        options->core = (int)read_number("--core", argument, 0, INT_MAX);
        return true;
    case OPTION_NO_PIN:
        options->is_pinned = false;
        return true;
    case OPTION_SEED:
        options->seed = read_number("--seed", argument, 0, UINT64_MAX);
        return true;
    default:
        return false;
    }
}

static bool read_output_option(int key, const char *argument, struct ab_options *options)
{
    switch (key) {
    case OPTION_PROGRESS:
        options->shows_progress = true;
        return true;
    case OPTION_MARKDOWN:
        options->prints_record |= argument == NULL;
        options->record_path = argument != NULL ? argument : options->record_path;
        return true;
    case OPTION_JSON:
        options->prints_json = true;
        return true;
    case OPTION_PLOT:
        options->plot_path = argument;
        return true;
    case OPTION_PROMOTE:
        options->promotes = true;
        return true;
    case OPTION_SOURCE:
        options->source = argument;
        return true;
    case OPTION_HELP:
        (void)fputs(help, stdout);
        exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_TOOL_FAILED);
    default:
        return false;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct ab_options *options = state->input;
    if (key == ARGP_KEY_ARG) {
        options->words = &state->argv[state->next - 1];
        state->next = state->argc;
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
    if (options->workload == NULL && options->words == NULL) {
        experiment_refuse(
            "There is nothing to run. Name a program after --, or give --workload mixed.");
    }
    if (options->workload != NULL && options->words != NULL) {
        experiment_refuse(
            "--workload and a program after -- are two things to run. Give one of them.");
    }
}

static void check_plan(const struct ab_options *options)
{
    if (!options->is_pinned && options->core != AB_CORE_CHOSEN) {
        experiment_refuse("--core and --no-pin contradict each other. Give one of them.");
    }
    if (options->is_until_decided && options->rounds < ABTEST_PAIRS_PROVING) {
        experiment_refuse(
            "--until-decided looks first after --runs rounds; fewer than %d prove nothing.",
            ABTEST_PAIRS_PROVING);
    }
    if (options->is_until_decided && options->most_rounds < options->rounds) {
        experiment_refuse("--most %zu is below the first look, which is after --runs %zu rounds.",
                          options->most_rounds, options->rounds);
    }
    if (options->prints_json && options->prints_record) {
        experiment_refuse(
            "--json and --markdown would both go to standard output. Give --markdown=FILE.");
    }
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
    if (!options->has_b) {
        experiment_refuse(
            "--promote takes one comparison: what several gates do together was not tried. "
            "Give --b.");
    }
}

void ab_options_read(int argc, char **argv, struct ab_options *options)
{
    const struct argp argp = {.options = option_table, .parser = parse_option};
    *options = (struct ab_options){
        .argv = argv,
        .rounds = ROUNDS_USUAL,
        .most_rounds = MOST_ROUNDS_USUAL,
        .is_pinned = true,
        .core = AB_CORE_CHOSEN,
        .source = ".",
    };
    // Another order each time, so that its luck isn't repeated; it is told and can be given again.
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    options->seed = random;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, options) != 0) {
        exit(EXIT_WRONG_USAGE);
    }
    check_sides(options);
    check_plan(options);
    check_promotion(options);
}
