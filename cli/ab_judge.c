// From the figures of an A/B to its verdicts.
// SPDX-License-Identifier: MIT
#include "ab_report.h"

void ab_judge_comparison(struct ab_comparison *comparison, const struct experiment_measure *measure,
                         uint64_t seed)
{
    const struct abtest_samples samples = {
        .a = comparison->sides[AB_SIDE_A].figures,
        .b = comparison->sides[AB_SIDE_B].figures,
        .a_again = comparison->sides[AB_SIDE_CONTROL].figures,
        .count = comparison->round_count,
        .lower_is_better = measure->lower_is_better,
    };
    const struct abtest_settings settings = {
        .error_rate = comparison->error_rate, .resamples = ABTEST_RESAMPLES, .seed = seed};
    abtest_compare(&samples, &settings, &comparison->result);
}

static void judge(const struct ab_report *report, struct ab_comparison *comparison,
                  double error_rate)
{
    comparison->error_rate = error_rate;
    ab_judge_comparison(comparison, report->measure, report->options->common.seed);
}

// With looks, each comparison had its share of the error rate from the start.
void ab_judge(struct ab_report *report)
{
    double p[ABTEST_FAMILY_MOST];
    double error_rates[ABTEST_FAMILY_MOST];
    for (size_t i = 0; i < report->comparison_count; i++) {
        struct ab_comparison *comparison = &report->comparisons[i];
        judge(report, comparison, comparison->error_rate);
        p[i] = comparison->result.interval.p;
    }
    if (report->comparison_count == 1 || report->options->is_until_decided) {
        return;
    }
    abtest_holm(p, report->comparison_count, ABTEST_ERROR_RATE, error_rates);
    for (size_t i = 0; i < report->comparison_count; i++) {
        judge(report, &report->comparisons[i], error_rates[i]);
    }
}
