// How many runs a tuning takes: how many candidates, and how many rounds of each stage.
// Layer: cli.  Needs: abtest.
// SPDX-License-Identifier: MIT
//
// The candidates and the defaults run in stages; after each the worse half is dropped, until as many
// are left as can be combined.  Then the best alone and together, and then fresh runs of one.
#ifndef HAK_CLI_TUNE_PLAN_H
#define HAK_CLI_TUNE_PLAN_H

#include "abtest/abtest.h"

#include <stddef.h>

enum {
    TUNE_FINALISTS = 3,
    TUNE_COMBINED_MOST = 4,       // the best, with each of the others, and all three
    TUNE_CANDIDATES_LEAST = 3,    // with fewer, `hakmem ab` is the better tool
    TUNE_CONFIRMING_SIDES = 3,    // A, B and A again
    TUNE_CONFIRMING_ROUNDS = 10,  // at the first look
};

struct tune_plan {
    size_t candidate_count;
    size_t stage_rounds;  // of each stage; even, see abtest_order
    size_t combining_rounds;
    size_t confirming_rounds;  // at most
    size_t run_count;          // at most, of everything
};

// How many are left of `count` after a stage.
size_t tune_plan_next(size_t count);

// The best plan for `candidate_count` candidates within `most_runs` (0: unbounded).  Its
// candidate_count is 0 when not even TUNE_CANDIDATES_LEAST fit.
void tune_plan_make(size_t candidate_count, size_t most_runs, struct tune_plan *plan);

// The fewest runs that any plan has.
size_t tune_plan_least(void);

#endif
