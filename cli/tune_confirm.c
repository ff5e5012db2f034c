// The winner against the defaults, in runs that took no part in the choice.
// SPDX-License-Identifier: MIT
#include "tune_report.h"

static const size_t candidate_of[AB_SIDE_COUNT] = {
    [AB_SIDE_A] = 0, [AB_SIDE_B] = 1, [AB_SIDE_CONTROL] = 0};

// Two sides have been made; the second A shares the environment of the first.
static void fill_sides(struct ab_comparison *comparison, const struct experiment_side *made)
{
    static const char *const names[AB_SIDE_COUNT] = {"A", "B", "A again"};
    for (size_t i = 0; i < AB_SIDE_COUNT; i++) {
        comparison->sides[i] = made[candidate_of[i]];
        comparison->sides[i].name = names[i];
        experiment_environment_describe(comparison->sides[i].environment, comparison->texts[i]);
    }
}

bool tune_confirm(struct tune_report *report)
{
    struct abtest_looks looks;
    struct ab_comparison *comparison = &report->confirmation;
    struct experiment_side *made = tune_sides_make(report, &report->winner, 1);
    if (made == NULL) {
        return false;
    }
    fill_sides(comparison, made);
    abtest_plan_looks(TUNE_CONFIRMING_ROUNDS, report->plan.confirming_rounds, ABTEST_ERROR_RATE,
                      &looks);
    report->progress.stage = "confirming, ";
    report->progress.ratio_side = AB_SIDE_B;
    report->progress.round_count = report->plan.confirming_rounds;
    struct experiment experiment = tune_experiment(report, comparison->sides, AB_SIDE_COUNT);
    bool is_good = experiment_warm_up(&experiment);
    for (size_t i = 0; is_good && i < looks.count; i++) {
        is_good = experiment_run_rounds(&experiment, looks.pairs[i]);
        comparison->round_count = experiment.round_count;
        comparison->error_rate = looks.error_rates[i];
        ab_judge_comparison(comparison, report->measure, report->options->common.seed);
        if (comparison->result.verdict != ABTEST_UNDECIDED) {
            break;
        }
    }
    tune_account(report, &experiment);
    return is_good;
}

bool tune_has_result(const struct tune_report *report)
{
    return report->winner.gate != NULL && report->confirmation.result.verdict == ABTEST_GO;
}

double tune_peak_mib(const struct tune_report *report, size_t side)
{
    double peaks[ABTEST_PAIRS_MOST];
    struct abtest_summary summary;
    const struct ab_comparison *comparison = &report->confirmation;
    for (size_t round = 0; round < comparison->round_count; round++) {
        peaks[round] = comparison->sides[side].costs[round].peak_mib;
    }
    abtest_summarize(peaks, comparison->round_count, &summary);
    return summary.mean;
}
