// SPDX-License-Identifier: MIT
#include "suite_options.h"

#include "command.h"
#include "experiment_refuse.h"
#include "policy/gate_text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_HELP = 'h',
    OPTION_ALLOCATORS = 256,
    OPTION_ROUNDS,
    OPTION_ONLY,
    OPTION_MIMALLOC_BENCH,
    OPTION_JSON,
    OPTION_MARKDOWN,
    OPTION_PLOT,
    OPTION_HTML,
    OPTION_NOTES,
    OPTION_LATENCY,
    OPTION_FORCE,

    ROUNDS_USUAL = 10,
};

static const struct argp_option option_table[] = {
    {"allocators", OPTION_ALLOCATORS, "LIST", 0, NULL, 0},
    {"rounds", OPTION_ROUNDS, "N", 0, NULL, 0},
    {"only", OPTION_ONLY, "LIST", 0, NULL, 0},
    {"mimalloc-bench", OPTION_MIMALLOC_BENCH, "DIR", 0, NULL, 0},
    {"json", OPTION_JSON, "FILE", 0, NULL, 0},
    {"markdown", OPTION_MARKDOWN, "FILE", 0, NULL, 0},
    {"plot", OPTION_PLOT, "FILE", 0, NULL, 0},
    {"html", OPTION_HTML, "FILE", 0, NULL, 0},
    {"notes", OPTION_NOTES, "FILE", 0, NULL, 0},
    {"latency", OPTION_LATENCY, NULL, 0, NULL, 0},
    {"force", OPTION_FORCE, NULL, 0, NULL, 0},
    {"help", OPTION_HELP, NULL, 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: hakmem bench [OPTION...] [SUITE]\n"
    "Runs workloads on several allocators in turns: default, scaling, idle, small,\n"
    "programs, mimalloc-bench, or all of what is there.\n"
    "\n"
    "  --allocators LIST      as for hakmem compare (without: all that are installed)\n"
    "  --rounds N             rounds of all of them, after a warm-up (10)\n"
    "  --only LIST            rows of the suite by name, with commas\n"
    "  --mimalloc-bench DIR   where mimalloc-bench was built\n"
    "  --latency              time each malloc and free too, in further runs\n"
    "  --core N, --no-pin     as for hakmem compare, of rows with one thread\n"
    "  --env NAME[=V]         hand on a variable that is not one every program needs\n"
    "  --progress, --seed N   progress off a terminal too; the order of the runs\n"
    "  --json, --html FILE    all figures; one page with pictures, by gnuplot\n"
    "  --plot FILE            the pictures as one SVG\n"
    "  --markdown FILE        a record as in docs/analysis/; --force over any file\n"
    "  --notes FILE           lines `ROW: sentence` that the record puts to its rows\n"
    "\n"
    "A ratio is hakmem's cost over a peer's: below 1 hakmem is better. The frontier\n"
    "is the geometric mean over the rows of hakmem over the best peer of each row.\n"
    "See man hakmem.\n";

static bool has_suite(const struct suite_options *options)
{
    bool has_one = false;
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        has_one |= options->is_chosen[i];
    }
    return has_one;
}

static void choose_suite(struct suite_options *options, const char *text)
{
    enum suite_id suite = SUITE_DEFAULT;
    if (has_suite(options)) {
        experiment_refuse("%s is a second suite. Give one, or all.", text);
    }
    options->runs_all = strcmp(text, "all") == 0;
    if (!options->runs_all && !suite_find(text, &suite)) {
        experiment_refuse("%s is not a suite. Give default, scaling, idle, small, programs, "
                          "mimalloc-bench or all; a program of your own: hakmem compare.",
                          text);
    }
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        options->is_chosen[i] = options->runs_all || i == suite;
    }
}

static error_t parse_file(int key, char *argument, struct suite_options *options)
{
    switch (key) {
    case OPTION_JSON:
        options->json_path = experiment_options_file("--json", argument);
        return 0;
    case OPTION_MARKDOWN:
        options->record_path = experiment_options_file("--markdown", argument);
        return 0;
    case OPTION_PLOT:
        options->plot_path = experiment_options_file("--plot", argument);
        return 0;
    case OPTION_HTML:
        options->html_path = experiment_options_file("--html", argument);
        return 0;
    case OPTION_NOTES:
        options->notes_path = experiment_options_file("--notes", argument);
        return 0;
    case OPTION_FORCE:
        options->overwrites = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct suite_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case ARGP_KEY_ARG:
        choose_suite(options, argument);
        return 0;
    case OPTION_ALLOCATORS:
        options->allocators = argument;
        return 0;
    case OPTION_ROUNDS:
        options->rounds = experiment_options_rounds("--rounds", argument);
        return 0;
    case OPTION_ONLY:
        options->only = argument;
        return 0;
    case OPTION_MIMALLOC_BENCH:
        options->mimalloc_bench = argument;
        return 0;
    case OPTION_LATENCY:
        options->times_calls = true;
        return 0;
    case OPTION_HELP:
        experiment_options_help(help);
    default:
        return parse_file(key, argument, options);
    }
}

static bool is_listed(const char *list, const char *name)
{
    struct slice rest = slice_of(list);
    while (rest.length > 0) {
        if (slice_is(slice_cut(&rest, ','), name)) {
            return true;
        }
    }
    return false;
}

bool suite_options_want(const struct suite_options *options, const struct suite_workload *workload)
{
    return options->is_chosen[workload->suite] &&
           (options->only == NULL || is_listed(options->only, workload->name));
}

static void check_only(const struct suite_options *options)
{
    struct slice rest = slice_of(options->only != NULL ? options->only : "");
    while (rest.length > 0) {
        struct slice name = slice_cut(&rest, ',');
        size_t i = 0;
        while (i < suite_workload_count && !(options->is_chosen[suite_workloads[i].suite] &&
                                             slice_is(name, suite_workloads[i].name))) {
            i++;
        }
        if (i == suite_workload_count) {
            experiment_refuse("--only: the suite has no row %.*s.", (int)name.length, name.start);
        }
    }
}

// The programs of mimalloc-bench lie in out/bench of its folder.
static void find_mimalloc_bench(struct suite_options *options)
{
    static char folder[PATH_MAX];
    char path[PATH_MAX];
    if (options->mimalloc_bench == NULL) {
        if (options->is_chosen[SUITE_MIMALLOC_BENCH] && !options->runs_all) {
            experiment_refuse("mimalloc-bench does not come with hakmem. Say where it was built: "
                              "--mimalloc-bench DIR.");
        }
        return;
    }
    int length = snprintf(path, sizeof path, "%s/out/bench", options->mimalloc_bench);
    if (length >= (int)sizeof path || realpath(path, folder) == NULL) {
        experiment_refuse("--mimalloc-bench %s: there is no out/bench in it. Build it there "
                          "(build-bench-env.sh bench).",
                          options->mimalloc_bench);
    }
    options->mimalloc_bench = folder;
}

void suite_options_read(int argc, char **argv, struct suite_options *options)
{
    *options = (struct suite_options){.rounds = ROUNDS_USUAL};
    experiment_options_start(&options->common, argv);
    experiment_options_parse(argc, argv, option_table, parse_option, options);
    if (options->common.workload != NULL) {
        experiment_refuse("--workload is for hakmem compare. Name a suite.");
    }
    options->is_chosen[SUITE_DEFAULT] |= !has_suite(options);
    experiment_options_check_settings(&options->common);
    check_only(options);
    find_mimalloc_bench(options);
    experiment_options_check_record(options->record_path, options->overwrites);
}
