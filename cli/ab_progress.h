// The line that says how far an A/B has come.
// Layer: cli.  Needs: experiment.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_PROGRESS_H
#define HAK_CLI_AB_PROGRESS_H

#include "experiment.h"

struct ab_progress {
    bool is_shown;
    bool is_terminal;  // one line, written over; else a line a round
    size_t comparison_index;
    size_t comparison_count;
    size_t round_count;  // at most, of each comparison
    size_t runs_before;  // of earlier comparisons
    double start_seconds;
};

void ab_progress_start(struct ab_progress *progress, bool is_wanted);

// An experiment's `progress`; `context` is the struct ab_progress.
void ab_progress_show(const struct experiment *experiment, void *context);

// Takes the line away.
void ab_progress_end(const struct ab_progress *progress);

#endif
