// `hakmem compare`: a program on several allocators in turns.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "command.h"
#include "compare_report.h"
#include "compare_run.h"
#include "compare_sides.h"
#include "experiment_progress.h"
#include "gnuplot.h"
#include "probe.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

static bool can_write_results(const struct compare_options *options)
{
    if (options->plot_path != NULL &&
        (!gnuplot_is_there() || !ab_output_can_write(options->plot_path))) {
        return false;
    }
    return options->record_path == NULL || ab_output_can_write(options->record_path);
}

static bool make_sides(struct compare_report *report, const struct compare_proofs *proofs)
{
    size_t count = report->allocators.count + 1;
    report->sides = calloc(count, sizeof *report->sides);
    return compare_sides_make(report->sides, count, &report->allocators,
                              &(struct compare_proof_files){
                                  .variables = &report->options->common.variables,
                                  .witness = &proofs->witness,
                                  .heap_path = proofs->heap.path,
                              });
}

static bool run_all(struct compare_report *report, const struct compare_proofs *proofs)
{
    struct experiment_progress progress = {.stage = "", .round_count = report->options->rounds};
    struct experiment experiment = {
        .words = report->run_words,
        .measure = &report->measures[0],
        .proof = &proofs->heap,
        .witness = &proofs->witness,
        .core = report->core,
        .seed = report->options->common.seed,
        .sides = report->sides,
        .side_count = report->allocators.count + 1,
        .progress = experiment_progress_show,
        .context = &progress,
    };
    progress.run_count = progress.round_count * experiment.side_count;
    (void)experiment_measure_read(&report->measures[0], "time");
    experiment_progress_start(&progress, report->options->common.shows_progress);
    bool is_good = experiment_warm_up(&experiment) &&
                   experiment_run_rounds(&experiment, report->options->rounds);
    experiment_progress_end(&progress);
    report->round_count = experiment.round_count;
    report->run_count = experiment.run_count;
    report->thread_count = experiment.thread_count;
    return is_good;
}

static bool write_record(const struct compare_report *report)
{
    struct ab_output output;
    if (!ab_output_open(&output, report->options->record_path)) {
        return false;
    }
    compare_record_print(output.file, report);
    return ab_output_commit(&output);
}

static int write_results(const struct compare_report *report)
{
    const struct compare_options *options = report->options;
    int status = EXIT_SUCCESS;
    if (options->prints_json) {
        status = compare_json_print(report);
    } else if (options->prints_record) {
        compare_record_print(stdout, report);
    } else {
        compare_table_print(stdout, report);
    }
    experiment_say_shared_core(report->words[0], report->core, report->thread_count);
    bool is_good = (options->record_path == NULL || write_record(report)) &&
                   (options->plot_path == NULL || compare_plot_write(report, options->plot_path));
    return is_good ? status : EXIT_TOOL_FAILED;
}

static bool read_version(struct compare_report *report)
{
    struct probe_result probe;
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct compare_allocator *allocator = &report->allocators.list[i];
        if (allocator->is_hakmem && !probe_run(allocator->object, &probe)) {
            talk_say("%s is not hakmem. `hakmem doctor` tells more.", allocator->object);
            return false;
        }
    }
    (void)snprintf(report->version, sizeof report->version, "%s", probe.version);
    return true;
}

static int run_experiment(struct compare_report *report, const struct compare_proofs *proofs)
{
    if (!experiment_options_can_preload(report->run_words[0]) ||
        !can_write_results(report->options) || !read_version(report) ||
        !make_sides(report, proofs)) {
        return EXIT_TOOL_FAILED;
    }
    ab_machine_describe(report->machine);
    if (!run_all(report, proofs)) {
        return EXIT_TOOL_FAILED;
    }
    compare_judge(report);
    return write_results(report);
}

int compare_run(const struct compare_options *options, char **words, char **run_words)
{
    struct compare_proofs proofs;
    struct compare_report report = {.options = options, .words = words, .run_words = run_words};
    int status = compare_sides_start(&options->common, options->allocators, &report.core, &proofs,
                                     &report.allocators);
    return status == EXIT_SUCCESS ? run_experiment(&report, &proofs) : status;
}

int compare_command(int argc, char **argv)
{
    struct compare_options options;
    struct experiment_workload workload;
    char **words = NULL;
    compare_options_read(argc, argv, &options);
    int status = experiment_options_find_program(&options.common, &workload, &words);
    return status == EXIT_SUCCESS ? compare_run(&options, words, words) : status;
}
