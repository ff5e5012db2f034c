// SPDX-License-Identifier: MIT
#include "tune_plan.h"

enum {
    STAGE_ROUNDS_USUAL = 4
};

// Finalists have run in every stage, so of twenty candidates in four times as many rounds.
static const size_t stage_rounds[] = {8, STAGE_ROUNDS_USUAL, 2};

size_t tune_plan_next(size_t count)
{
    size_t half = (count + 1) / 2;
    return half > TUNE_FINALISTS ? half : TUNE_FINALISTS;
}

// The defaults take part in every stage, and in the warm-ups.
static size_t count_runs(const struct tune_plan *plan)
{
    size_t run_count = 1;
    size_t count = plan->candidate_count;
    while (count > TUNE_FINALISTS) {
        run_count += (count + 1) * plan->stage_rounds;
        count = tune_plan_next(count);
    }
    run_count += (count + 1) * plan->stage_rounds;
    run_count += (TUNE_COMBINED_MOST + 1) * plan->combining_rounds;
    run_count += TUNE_CONFIRMING_SIDES * (plan->confirming_rounds + 1);
    return run_count;
}

static void fill(struct tune_plan *plan, size_t candidate_count, size_t rounds)
{
    *plan = (struct tune_plan){
        .candidate_count = candidate_count,
        .stage_rounds = rounds,
        .combining_rounds = rounds > ABTEST_PAIRS_PROVING ? rounds : ABTEST_PAIRS_PROVING,
        .confirming_rounds = rounds > 2 ? 5 * rounds : TUNE_CONFIRMING_ROUNDS,
    };
    plan->run_count = count_runs(plan);
}

size_t tune_plan_least(void)
{
    struct tune_plan plan;
    fill(&plan, TUNE_CANDIDATES_LEAST,
         stage_rounds[sizeof stage_rounds / sizeof stage_rounds[0] - 1]);
    return plan.run_count;
}

void tune_plan_make(size_t candidate_count, size_t most_runs, struct tune_plan *plan)
{
    if (most_runs == 0) {
        fill(plan, candidate_count, STAGE_ROUNDS_USUAL);
        return;
    }
    for (size_t i = 0; i < sizeof stage_rounds / sizeof stage_rounds[0]; i++) {
        fill(plan, candidate_count, stage_rounds[i]);
        if (plan->run_count <= most_runs) {
            return;
        }
    }
    while (plan->run_count > most_runs) {
        if (plan->candidate_count <= TUNE_CANDIDATES_LEAST) {
            plan->candidate_count = 0;
            return;
        }
        fill(plan, plan->candidate_count - 1, plan->stage_rounds);
    }
}
