// `hakmem tune`: looks for settings that help a program.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "command.h"
#include "library.h"
#include "probe.h"
#include "talk.h"
#include "tune_report.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

// The next first run may take longer.
static const double BUDGET_MARGIN = 1.2;

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Once under the defaults, which shows what is wrong and how long a run takes.
static bool warm_up(struct tune_report *report, double *run_seconds)
{
    struct experiment_side *sides = tune_sides_make(report, NULL, 0);
    if (sides == NULL) {
        return false;
    }
    struct experiment experiment = tune_experiment(report, sides, 1);
    double start_seconds = now_seconds();
    bool is_good = experiment_warm_up(&experiment);
    *run_seconds = now_seconds() - start_seconds;
    tune_sides_drop(sides, 0);
    return is_good;
}

static void explain_bound(const struct tune_options *options, size_t most_runs, double run_seconds)
{
    size_t least = tune_plan_least();
    if (options->most_runs > 0) {
        talk_say("--most allows %zu runs, which is too few to try even %d settings. Give at least "
                 "%zu, or try one setting by `hakmem ab`.",
                 most_runs, TUNE_CANDIDATES_LEAST, least);
    } else {
        talk_say("--budget allows %zu runs, which is too few to try even %d settings: a run takes "
                 "%.3g s. Give at least %.0f seconds, or try one setting by `hakmem ab`.",
                 most_runs, TUNE_CANDIDATES_LEAST, run_seconds,
                 ceil((double)least * run_seconds * BUDGET_MARGIN));
    }
}

static int make_plan(struct tune_report *report, double run_seconds)
{
    const struct tune_options *options = report->options;
    size_t count = report->candidates.count;
    size_t most_runs = options->most_runs;
    if (options->budget_seconds > 0) {
        most_runs = 1 + (size_t)(options->budget_seconds / run_seconds);
    }
    tune_plan_make(count, most_runs, &report->plan);
    if (report->plan.candidate_count == 0) {
        explain_bound(options, most_runs, run_seconds);
        return EXIT_WRONG_USAGE;
    }
    if (report->plan.candidate_count < count) {
        talk_say("%zu of %zu settings are tried: that is what fits.", report->plan.candidate_count,
                 count);
        report->candidates.count = report->plan.candidate_count;
    }
    return EXIT_SUCCESS;
}

// Each candidate's settings, as the library itself tells them.
static bool can_check_settings(const struct tune_report *report)
{
    const struct tune_candidates *candidates = &report->candidates;
    struct experiment_side *sides = tune_sides_make(report, candidates->list, candidates->count);
    bool is_good = sides != NULL;
    for (size_t i = 0; is_good && i <= candidates->count; i++) {
        is_good = experiment_proof_check_settings(sides[i].environment);
    }
    tune_sides_drop(sides, candidates->count);
    return is_good;
}

static bool write_profile(const struct tune_report *report)
{
    struct ab_output output;
    if (!ab_output_open(&output, report->options->output)) {
        return false;
    }
    tune_profile_print(output.file, report);
    return ab_output_commit(&output);
}

// The profile comes first: whoever reads that it was written can use it.
static int write_results(const struct tune_report *report)
{
    bool has_result = tune_has_result(report);
    experiment_say_shared_core(report->words[0], report->core, report->thread_count);
    if (has_result && !write_profile(report)) {
        return EXIT_TOOL_FAILED;
    }
    if (report->options->prints_json) {
        return tune_json_print(report);
    }
    tune_table_print(stdout, report);
    return EXIT_SUCCESS;
}

static bool run_all(struct tune_report *report)
{
    experiment_progress_start(&report->progress, report->options->common.shows_progress);
    report->progress.run_count = report->plan.run_count;
    bool is_good = tune_search(report) && (report->winner.gate == NULL || tune_confirm(report));
    experiment_progress_end(&report->progress);
    return is_good;
}

// With the proof open.
static int run_experiment(struct tune_report *report)
{
    struct probe_result probe;
    double run_seconds = 0;
    if (!experiment_options_can_preload(report->words[0]) ||
        !ab_output_can_write(report->options->output)) {
        return EXIT_TOOL_FAILED;
    }
    if (!probe_run(report->foundation.library, &probe)) {
        talk_say("%s cannot be preloaded. `hakmem doctor` tells more.", report->foundation.library);
        return EXIT_TOOL_FAILED;
    }
    (void)snprintf(report->version, sizeof report->version, "%s", probe.version);
    ab_machine_describe(report->machine);
    tune_candidates_find(&report->candidates);
    if (!can_check_settings(report) || !warm_up(report, &run_seconds)) {
        return EXIT_TOOL_FAILED;
    }
    int status = make_plan(report, run_seconds);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    return run_all(report) ? write_results(report) : EXIT_TOOL_FAILED;
}

static int find_parts(struct tune_report *report, struct experiment_measure *measure,
                      struct experiment_workload *workload)
{
    const struct tune_options *options = report->options;
    int status = experiment_options_find_measure(&options->common, options->measure,
                                                 options->lower_is_better, measure);
    if (status == EXIT_SUCCESS) {
        status = experiment_options_find_core(&options->common, &report->core);
    }
    if (status == EXIT_SUCCESS) {
        status = experiment_options_find_program(&options->common, workload, &report->words);
    }
    return status;
}

int tune_command(int argc, char **argv)
{
    struct tune_options options;
    struct experiment_measure measure;
    struct experiment_workload workload;
    struct experiment_proof proof;
    char library[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    struct tune_report report = {.options = &options, .measure = &measure, .proof = &proof};
    tune_options_read(argc, argv, &options);
    int status = find_parts(&report, &measure, &workload);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    if (!library_find(library, sentence)) {
        talk_say("%s", sentence);
        return EXIT_TOOL_FAILED;
    }
    if (!experiment_proof_open(&proof)) {
        return EXIT_TOOL_FAILED;
    }
    report.foundation =
        (struct experiment_foundation){&options.common.variables, library, proof.path};
    status = run_experiment(&report);
    experiment_proof_close(&proof);
    return status;
}
