// What `hakmem tune` found out, and the steps to it.
// Layer: cli.  Needs: ab_report, tune_candidates, tune_options, tune_plan.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TUNE_REPORT_H
#define HAK_CLI_TUNE_REPORT_H

#include "ab_report.h"
#include "experiment_progress.h"
#include "experiment_settings.h"
#include "tune_candidates.h"
#include "tune_options.h"
#include "tune_plan.h"

#include <stdio.h>

struct tune_report {
    const struct tune_options *options;
    const struct experiment_measure *measure;
    const struct experiment_proof *proof;
    struct experiment_foundation foundation;
    struct experiment_progress progress;
    char **words;  // the program
    int core;      // RUN_CORE_ANY: not pinned
    char version[64];
    char machine[AB_MACHINE_BYTES];
    struct tune_plan plan;
    struct tune_candidates candidates;  // sorted by tune_search, the best first
    size_t finalist_count;              // the first of them
    struct tune_candidates combined;    // the best alone, and with the others
    struct tune_candidate winner;       // gate NULL: nothing seemed worth confirming
    struct ab_comparison confirmation;  // B is the winner
    size_t run_count;
    size_t thread_count;
};

// Sides for the defaults and `count` candidates, each with its environment; NULL, having said why.
struct experiment_side *tune_sides_make(const struct tune_report *report,
                                        const struct tune_candidate *candidates, size_t count);
void tune_sides_drop(struct experiment_side *sides, size_t count);

// An experiment with these sides, ready to run.
struct experiment tune_experiment(struct tune_report *report, struct experiment_side *sides,
                                  size_t side_count);

// Adds what an experiment has done to the report.
void tune_account(struct tune_report *report, const struct experiment *experiment);

// Tries the candidates, drops the losers early, combines the finalists and chooses the winner.
// Returns false, having said why, when a run fails.
bool tune_search(struct tune_report *report);

// Runs the winner against the defaults afresh.  Returns false as above.
bool tune_confirm(struct tune_report *report);

// True when the winner was confirmed.
bool tune_has_result(const struct tune_report *report);

// The peak memory of the confirming runs, in MiB.
double tune_peak_mib(const struct tune_report *report, size_t side);

// For people, on a terminal.
void tune_table_print(FILE *out, const struct tune_report *report);

// Returns an exit status.
int tune_json_print(const struct tune_report *report);

// The profile, with the evidence in comments.
void tune_profile_print(FILE *out, const struct tune_report *report);

#endif
