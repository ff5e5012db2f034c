// `hakmem ab`: a program under two settings in turns, and a verdict.
// SPDX-License-Identifier: MIT
#include "command.h"

#include "ab_options.h"
#include "ab_output.h"
#include "ab_plot.h"
#include "ab_promote.h"
#include "ab_report.h"
#include "ab_sides.h"
#include "experiment_progress.h"
#include "gnuplot.h"
#include "library.h"
#include "probe.h"
#include "settings.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Everything that would fail at the end is looked at before time is spent.
static bool can_write_results(const struct ab_options *options)
{
    if (options->plot_path != NULL &&
        (!gnuplot_is_there() || !ab_output_can_write(options->plot_path))) {
        return false;
    }
    if (options->record_path != NULL && !ab_output_can_write(options->record_path)) {
        return false;
    }
    return !options->promotes || ab_promote_is_possible(options);
}

static bool can_check_settings(const struct ab_report *report)
{
    for (size_t i = 0; i < report->comparison_count; i++) {
        const struct experiment_side *sides = report->comparisons[i].sides;
        if (!experiment_proof_check_settings(sides[AB_SIDE_A].environment) ||
            !experiment_proof_check_settings(sides[AB_SIDE_B].environment)) {
            return false;
        }
    }
    return true;
}

struct idle {
    char told[GATE_SENTENCE_BYTES];  // the last sentence: both sides may deserve it
};

static void say_idle(const char *sentence, void *context)
{
    struct idle *idle = context;
    if (strcmp(sentence, idle->told) != 0) {
        (void)snprintf(idle->told, sizeof idle->told, "%s", sentence);
        talk_say("%s", sentence);
    }
}

// A comparison of settings that do nothing only measures noise.
static void warn_of_idle_settings(const struct ab_report *report)
{
    struct idle idle = {.told = ""};
    for (size_t i = 0; i < report->comparison_count; i++) {
        const struct experiment_side *sides = report->comparisons[i].sides;
        settings_find_idle(sides[AB_SIDE_A].environment, say_idle, &idle);
        settings_find_idle(sides[AB_SIDE_B].environment, say_idle, &idle);
    }
}

static enum abtest_verdict look(const struct ab_report *report, struct ab_comparison *comparison,
                                const struct experiment *experiment)
{
    struct ab_report alone = *report;
    alone.comparisons = comparison;
    alone.comparison_count = 1;
    comparison->round_count = experiment->round_count;
    ab_judge(&alone);
    return comparison->result.verdict;
}

// With --until-decided several comparisons share the error rate; otherwise Holm's steps follow.
static void plan_looks(const struct ab_report *report, struct abtest_looks *looks)
{
    const struct ab_options *options = report->options;
    if (options->is_until_decided) {
        abtest_plan_looks(options->rounds, options->most_rounds,
                          ABTEST_ERROR_RATE / (double)report->comparison_count, looks);
    } else {
        abtest_plan_looks(options->rounds, options->rounds, ABTEST_ERROR_RATE, looks);
    }
}

static bool run_comparison(struct ab_report *report, struct ab_comparison *comparison,
                           const struct experiment_proof *proof,
                           struct experiment_progress *progress)
{
    struct abtest_looks looks;
    struct experiment experiment = {
        .words = report->words,
        .measure = report->measure,
        .proof = proof,
        .core = report->core,
        .seed = report->options->common.seed,
        .sides = comparison->sides,
        .side_count = AB_SIDE_COUNT,
        .progress = experiment_progress_show,
        .context = progress,
    };
    plan_looks(report, &looks);
    progress->round_count = looks.pairs[looks.count - 1];
    progress->run_count = report->comparison_count * progress->round_count * AB_SIDE_COUNT;
    bool is_good = experiment_warm_up(&experiment);
    for (size_t i = 0; is_good && i < looks.count; i++) {
        is_good = experiment_run_rounds(&experiment, looks.pairs[i]);
        comparison->error_rate = looks.error_rates[i];
        if (is_good && look(report, comparison, &experiment) != ABTEST_UNDECIDED) {
            break;
        }
    }
    report->run_count += experiment.run_count;
    progress->runs_before += experiment.run_count;
    if (experiment.thread_count > report->thread_count) {
        report->thread_count = experiment.thread_count;
    }
    return is_good;
}

static bool run_all(struct ab_report *report, const struct experiment_proof *proof)
{
    char stage[64] = "";
    struct experiment_progress progress = {.stage = stage, .ratio_side = AB_SIDE_B};
    bool is_good = true;
    experiment_progress_start(&progress, report->options->common.shows_progress);
    for (size_t i = 0; is_good && i < report->comparison_count; i++) {
        if (report->comparison_count > 1) {
            (void)snprintf(stage, sizeof stage, "comparison %zu of %zu, ", i + 1,
                           report->comparison_count);
        }
        is_good = run_comparison(report, &report->comparisons[i], proof, &progress);
        experiment_progress_end(&progress);
    }
    return is_good;
}

static bool write_record(const struct ab_report *report)
{
    struct ab_output output;
    if (!ab_output_open(&output, report->options->record_path)) {
        return false;
    }
    ab_record_print(output.file, report);
    return ab_output_commit(&output);
}

// The record is there before the preset names it, and says afterwards that it does.
static bool promote(struct ab_report *report)
{
    report->is_promoted = ab_promote_write(report);
    return report->is_promoted && write_record(report);
}

static int write_results(struct ab_report *report)
{
    const struct ab_options *options = report->options;
    int status = EXIT_SUCCESS;
    if (options->prints_json) {
        status = ab_json_print(report);
    } else if (options->prints_record) {
        ab_record_print(stdout, report);
    } else {
        ab_table_print(stdout, report);
    }
    experiment_say_shared_core(report->words[0], report->core, report->thread_count);
    bool is_good = (options->record_path == NULL || write_record(report)) &&
                   (options->plot_path == NULL || ab_plot_write(report, options->plot_path)) &&
                   (!options->promotes || promote(report));
    return is_good ? status : EXIT_TOOL_FAILED;
}

// With the sides made and the proof open.
static int run_experiment(struct ab_report *report, const struct experiment_proof *proof,
                          const char *library)
{
    struct probe_result probe;
    if (!experiment_options_can_preload(report->words[0]) || !can_write_results(report->options)) {
        return EXIT_TOOL_FAILED;
    }
    if (!probe_run(library, &probe)) {
        talk_say("%s cannot be preloaded. `hakmem doctor` tells more.", library);
        return EXIT_TOOL_FAILED;
    }
    (void)snprintf(report->version, sizeof report->version, "%s", probe.version);
    ab_machine_describe(report->machine);
    if (!can_check_settings(report)) {
        return EXIT_TOOL_FAILED;
    }
    warn_of_idle_settings(report);
    if (!run_all(report, proof)) {
        return EXIT_TOOL_FAILED;
    }
    ab_judge(report);
    return write_results(report);
}

int ab_command(int argc, char **argv)
{
    struct ab_options options;
    struct experiment_measure measure;
    struct experiment_workload workload;
    struct experiment_proof proof;
    struct ab_report report = {.options = &options, .measure = &measure};
    char library[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    ab_options_read(argc, argv, &options);
    bool has_library = library_find(library, sentence);  // before the environment is cleaned
    int status = experiment_options_find_measure(&options.common, options.measure,
                                                 options.lower_is_better, &measure);
    status = status == EXIT_SUCCESS ? experiment_options_find_core(&options.common, &report.core)
                                    : status;
    status = status == EXIT_SUCCESS
                 ? experiment_options_find_program(&options.common, &workload, &report.words)
                 : status;
    if (status != EXIT_SUCCESS) {
        return status;
    }
    if (!experiment_proof_open(&proof)) {
        return EXIT_TOOL_FAILED;
    }
    status = ab_sides_make(&options, has_library ? library : NULL, proof.path, &report);
    if (status == EXIT_SUCCESS && !has_library) {
        talk_say("%s", sentence);
        status = EXIT_TOOL_FAILED;
    }
    status = status == EXIT_SUCCESS ? run_experiment(&report, &proof, library) : status;
    experiment_proof_close(&proof);
    return status;
}
