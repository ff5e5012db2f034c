// The runs of the suite: each row warmed up, then in rounds.
// Layer: cli.  Needs: compare_sides, experiment, suite_calls, suite_report.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_RUN_H
#define HAK_CLI_SUITE_RUN_H

#include "compare_sides.h"
#include "suite_report.h"

// Finds the programs of the rows that were asked for; what isn't there is left out.  Returns false,
// having said why, when nothing remains.
bool suite_rows_find(struct suite_report *report);

// Gives each row its sides, one for each allocator.
bool suite_rows_prepare(struct suite_report *report, const struct compare_proofs *proofs);

// Runs all.  A peer whose run fails is left out of that row; returns false when hakmem's fails.
bool suite_run(struct suite_report *report, const struct compare_proofs *proofs);

#endif
