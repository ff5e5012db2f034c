// SPDX-License-Identifier: MIT
#include "suite_run.h"

#include "compare_sides.h"
#include "suite_calls.h"
#include "suite_progress.h"
#include "talk.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_ROUNDS_MOST = 3  // each takes seconds, and what stays resident hardly varies
};

void suite_leave_out(struct suite_report *report, const char *format, ...)
{
    char **list = realloc(report->left_out, (report->left_out_count + 1) * sizeof *list);
    char *sentence = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&sentence, format, arguments);
    va_end(arguments);
    if (list == NULL || length < 0) {
        talk_say("Something was left out, and memory is out too.");
        report->left_out = list != NULL ? list : report->left_out;
        return;
    }
    talk_say("left out: %s.", sentence);
    report->left_out = list;
    list[report->left_out_count++] = sentence;
}

bool suite_rows_find(struct suite_report *report)
{
    const struct suite_options *options = report->options;
    char reason[PATH_MAX];
    report->rows = calloc(suite_workload_count, sizeof *report->rows);
    bool misses_mimalloc_bench =
        options->is_chosen[SUITE_MIMALLOC_BENCH] && options->mimalloc_bench == NULL;
    if (misses_mimalloc_bench) {
        suite_leave_out(report, "mimalloc-bench: --mimalloc-bench was not given");
    }
    for (size_t i = 0; report->rows != NULL && i < suite_workload_count; i++) {
        const struct suite_workload *workload = &suite_workloads[i];
        struct suite_row *row = &report->rows[report->row_count];
        if (!suite_options_want(options, workload) ||
            (misses_mimalloc_bench && workload->suite == SUITE_MIMALLOC_BENCH)) {
            continue;
        }
        if (!suite_program_find(workload, options->mimalloc_bench, &row->program, reason)) {
            suite_leave_out(report, "%s: %s", workload->name, reason);
            continue;
        }
        row->workload = workload;
        suite_figure_read(workload->figure, &row->measure);
        report->row_count++;
    }
    if (report->row_count == 0) {
        talk_say("No program of the suite is there, so there is nothing to run.");
    }
    return report->row_count > 0;
}

bool suite_rows_prepare(struct suite_report *report, const struct compare_proofs *proofs)
{
    size_t count = report->allocators.count;
    struct experiment_side *sides = calloc(count, sizeof *sides);
    const struct compare_proof_files files = {.variables = &report->options->common.variables,
                                              .witness = &proofs->witness};
    bool is_good = compare_sides_make(sides, count, &report->allocators, &files);
    for (size_t allocator = 0; is_good && allocator < count; allocator++) {
        struct suite_identity *identity = &report->identities[allocator];
        suite_identity_hash(report->allocators.list[allocator].object, identity);
        suite_identity_ask(sides[allocator].environment, identity);
    }
    for (size_t i = 0; is_good && i < report->row_count; i++) {
        struct suite_row *row = &report->rows[i];
        row->sides = calloc(count, sizeof *row->sides);
        is_good = row->sides != NULL;
        for (size_t side = 0; is_good && side < count; side++) {
            row->sides[side].name = sides[side].name;
            row->sides[side].environment = sides[side].environment;
            row->sides[side].object = sides[side].object;
            row->allocators[side] = side;
        }
        row->side_count = count;
    }
    free(sides);
    return is_good;
}

static int core_of(const struct suite_report *report, const struct suite_row *row)
{
    return row->workload->thread_count == 1 ? report->core : RUN_CORE_ANY;
}

static struct experiment make_experiment(const struct suite_report *report, struct suite_row *row,
                                         const struct compare_proofs *proofs)
{
    return (struct experiment){
        .words = row->program.words,
        .folder =
            row->workload->suite == SUITE_MIMALLOC_BENCH ? report->options->mimalloc_bench : NULL,
        .measure = &row->measure,
        .proof = &proofs->heap,
        .witness = &proofs->witness,
        .core = core_of(report, row),
        .seed = report->options->common.seed,
        .sides = row->sides,
        .side_count = row->side_count,
    };
}

// A run of this side failed, and the experiment has said how.  Returns false when it is hakmem's own.
static bool drop_side(struct suite_report *report, struct suite_row *row, size_t side)
{
    size_t allocator = row->allocators[side];
    const char *name = report->allocators.list[allocator].name;
    if (allocator == report->ours) {
        talk_say("%s failed under %s, so there is no result.", row->workload->name, name);
        return false;
    }
    suite_leave_out(report, "%s under %s: a run of it failed", row->workload->name, name);
    row->side_count--;
    size_t behind = row->side_count - side;
    memmove(&row->sides[side], &row->sides[side + 1], behind * sizeof *row->sides);
    memmove(&row->allocators[side], &row->allocators[side + 1], behind * sizeof *row->allocators);
    return true;
}

static bool warm_up(struct suite_report *report, struct suite_row *row,
                    const struct compare_proofs *proofs)
{
    struct experiment experiment = make_experiment(report, row, proofs);
    double start_seconds = suite_progress_clock();
    while (!experiment_warm_up(&experiment)) {
        if (!drop_side(report, row, experiment.failed_side)) {
            return false;
        }
        experiment.side_count = row->side_count;
        start_seconds = suite_progress_clock();
    }
    row->round_seconds = suite_progress_clock() - start_seconds;
    return true;
}

static size_t rounds_of(const struct suite_report *report, const struct suite_row *row)
{
    size_t rounds = report->options->rounds;
    bool is_idle = row->workload->figure == FIGURE_IDLE;
    return is_idle && rounds > IDLE_ROUNDS_MOST ? IDLE_ROUNDS_MOST : rounds;
}

// The rounds start again when a peer drops out: all sides have figures of the same ones.
static bool run_rounds(struct suite_report *report, struct suite_row *row,
                       const struct compare_proofs *proofs, struct suite_progress *progress)
{
    struct experiment experiment = make_experiment(report, row, proofs);
    experiment.progress = suite_progress_show;
    experiment.context = progress;
    suite_progress_enter(progress, row->workload->name, rounds_of(report, row));
    while (!experiment_run_rounds(&experiment, rounds_of(report, row))) {
        if (!drop_side(report, row, experiment.failed_side)) {
            return false;
        }
        experiment.side_count = row->side_count;
        experiment.round_count = 0;
        experiment.run_count = 0;
    }
    row->round_count = experiment.round_count;
    suite_progress_leave(progress, row->round_seconds * (double)row->round_count);
    return true;
}

static void count_calls(struct suite_report *report, struct suite_row *row)
{
    for (size_t side = 0; side < row->side_count; side++) {
        size_t allocator = row->allocators[side];
        const struct compare_allocator *named = &report->allocators.list[allocator];
        row->calls[allocator] =
            suite_calls_count(row->program.words, named->is_preloaded ? named->object : NULL);
    }
}

static bool warm_up_all(struct suite_report *report, const struct compare_proofs *proofs,
                        struct suite_progress *progress)
{
    for (size_t i = 0; i < report->row_count; i++) {
        struct suite_row *row = &report->rows[i];
        suite_progress_step(progress, "warming up", row->workload->name, i + 1, report->row_count);
        if (!warm_up(report, row, proofs)) {
            return false;
        }
        progress->seconds_left += row->round_seconds * (double)rounds_of(report, row);
    }
    return true;
}

// Of the programs that come with hakmem, and do nothing but allocate.
static void time_calls(struct suite_report *report, const struct suite_progress *progress)
{
    struct suite_latency_probe probe;
    if (!suite_latency_open(&probe)) {
        return;
    }
    for (size_t i = 0; i < report->row_count; i++) {
        struct suite_row *row = &report->rows[i];
        bool is_ours =
            row->workload->suite == SUITE_DEFAULT || row->workload->suite == SUITE_SCALING;
        suite_progress_step(progress, "timing the calls of", row->workload->name, i + 1,
                            report->row_count);
        for (size_t side = 0; is_ours && side < row->side_count; side++) {
            size_t allocator = row->allocators[side];
            const struct compare_allocator *named = &report->allocators.list[allocator];
            suite_latency_measure(&probe, row->program.words, core_of(report, row),
                                  named->is_preloaded ? named->object : NULL,
                                  &row->latencies[allocator]);
        }
    }
    experiment_proof_close(&probe.file);
}

bool suite_run(struct suite_report *report, const struct compare_proofs *proofs)
{
    struct suite_progress progress;
    suite_progress_start(&progress, report->options->common.shows_progress);
    if (!warm_up_all(report, proofs, &progress)) {
        return false;
    }
    bool can_count = suite_has_rows(report, SUITE_SMALL) && suite_calls_can_count();
    for (size_t i = 0; i < report->row_count; i++) {
        struct suite_row *row = &report->rows[i];
        if (!run_rounds(report, row, proofs, &progress)) {
            return false;
        }
        if (row->workload->suite == SUITE_SMALL && can_count) {
            count_calls(report, row);
        }
    }
    if (report->options->times_calls) {
        time_calls(report, &progress);
    }
    suite_progress_end(&progress);
    return true;
}
