// The line that says how far an experiment has come.
// Layer: cli.  Needs: experiment.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_PROGRESS_H
#define HAK_CLI_EXPERIMENT_PROGRESS_H

#include "experiment.h"

struct experiment_progress {
    bool is_shown;
    bool is_terminal;    // one line, written over; else a line a round
    const char *stage;   // what comes first in the line, with a comma, or ""
    size_t ratio_side;   // whose ratio to the first side is shown; 0: none
    size_t round_count;  // at most, of this stage
    size_t run_count;    // at most, of all stages
    size_t runs_before;  // of earlier stages
    double start_seconds;
};

void experiment_progress_start(struct experiment_progress *progress, bool is_wanted);

// An experiment's `progress`; `context` is the struct experiment_progress.
void experiment_progress_show(const struct experiment *experiment, void *context);

// Takes the line away.
void experiment_progress_end(const struct experiment_progress *progress);

#endif
