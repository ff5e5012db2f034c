// The line that says how far the suite has come.
// Layer: cli.  Needs: experiment.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_PROGRESS_H
#define HAK_CLI_SUITE_PROGRESS_H

#include "experiment.h"

struct suite_progress {
    bool is_shown;
    bool is_terminal;     // one line, written over; else a line a row
    double seconds_left;  // of all rows that aren't done
    const char *row;
    size_t round_count;
    double start_seconds;  // of this row
};

double suite_progress_clock(void);

void suite_progress_start(struct suite_progress *progress, bool is_wanted);

// "warming up ROW, 3 of 20"
void suite_progress_step(const struct suite_progress *progress, const char *deed, const char *row,
                         size_t index, size_t count);

// Before and after the rounds of a row, which were expected to take so long.
void suite_progress_enter(struct suite_progress *progress, const char *row, size_t round_count);
void suite_progress_leave(struct suite_progress *progress, double expected_seconds);

// An experiment's `progress`; `context` is the struct suite_progress.
void suite_progress_show(const struct experiment *experiment, void *context);

// Takes the line away.
void suite_progress_end(const struct suite_progress *progress);

#endif
