// From the costs of runs to ratios, intervals and findings.
// SPDX-License-Identifier: MIT
#include "compare_report.h"

#include <math.h>

static const char *const measure_names[COMPARE_MEASURE_COUNT] = {[COMPARE_TIME] = "time",
                                                                 [COMPARE_CPU] = "cpu",
                                                                 [COMPARE_RSS] = "rss",
                                                                 [COMPARE_FAULTS] = "faults"};

// What the clock of the system can't tell from nothing.
static const double least_cost = 1e-6;

static void fill_figures(const struct compare_report *report, size_t measure, size_t side,
                         double *figures)
{
    for (size_t round = 0; round < report->round_count; round++) {
        double cost =
            experiment_measure_cost(&report->measures[measure], &report->sides[side].costs[round]);
        figures[round] = fmax(cost, least_cost);
    }
}

void compare_summarize(const struct compare_report *report, size_t measure, size_t side,
                       struct abtest_summary *summary)
{
    double figures[ABTEST_PAIRS_MOST];
    fill_figures(report, measure, side, figures);
    abtest_summarize(figures, report->round_count, summary);
}

// Costs are given as if more were better, so that the ratio is not turned over.
static void compare(struct compare_report *report, size_t measure, size_t side)
{
    double first[ABTEST_PAIRS_MOST];
    double figures[ABTEST_PAIRS_MOST];
    double first_again[ABTEST_PAIRS_MOST];
    const struct abtest_samples samples = {.a = first,
                                           .b = figures,
                                           .a_again = first_again,
                                           .count = report->round_count,
                                           .lower_is_better = false};
    const struct abtest_settings settings = {.error_rate = ABTEST_ERROR_RATE,
                                             .resamples = ABTEST_RESAMPLES,
                                             .seed = report->options->common.seed};
    fill_figures(report, measure, 0, first);
    fill_figures(report, measure, side, figures);
    fill_figures(report, measure, report->allocators.count, first_again);
    abtest_compare(&samples, &settings, &report->cells[measure][side].result);
}

static enum compare_finding find(const struct abtest_result *result, double error_rate)
{
    if (!isfinite(result->interval.high)) {
        return COMPARE_TOO_FEW;
    }
    if (result->interval.p > error_rate) {
        return COMPARE_NOT_SHOWN;
    }
    if (!result->is_control_clean) {
        return COMPARE_NOT_BELIEVED;
    }
    return result->interval.ratio < 1 ? COMPARE_LESS : COMPARE_MORE;
}

// The whole table is one family: the more that is compared, the more seems to differ by chance.
void compare_judge(struct compare_report *report)
{
    double p[COMPARE_MEASURE_COUNT * COMPARE_ALLOCATORS_MOST];
    double error_rates[COMPARE_MEASURE_COUNT * COMPARE_ALLOCATORS_MOST];
    size_t count = 0;
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        (void)experiment_measure_read(&report->measures[measure], measure_names[measure]);
        for (size_t side = 1; side < report->allocators.count; side++) {
            compare(report, measure, side);
            p[count++] = report->cells[measure][side].result.interval.p;
        }
    }
    abtest_holm(p, count, ABTEST_ERROR_RATE, error_rates);
    count = 0;
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        for (size_t side = 1; side < report->allocators.count; side++) {
            struct compare_cell *cell = &report->cells[measure][side];
            cell->finding = find(&cell->result, error_rates[count++]);
        }
    }
}

const char *compare_words(enum compare_finding finding)
{
    static const char *const words[] = {[COMPARE_LESS] = "less",
                                        [COMPARE_MORE] = "more",
                                        [COMPARE_NOT_SHOWN] = "no difference shown",
                                        [COMPARE_NOT_BELIEVED] = "not believed",
                                        [COMPARE_TOO_FEW] = "needs 6 rounds"};
    return words[finding];
}

const char *compare_measure_words(size_t measure)
{
    static const char *const words[COMPARE_MEASURE_COUNT] = {[COMPARE_TIME] = "time",
                                                             [COMPARE_CPU] = "CPU time",
                                                             [COMPARE_RSS] = "peak memory",
                                                             [COMPARE_FAULTS] = "page faults"};
    return words[measure];
}

const char *compare_title(const struct compare_report *report, size_t measure,
                          char text[COMPARE_TITLE_BYTES])
{
    const char *unit = report->measures[measure].unit;
    (void)snprintf(text, COMPARE_TITLE_BYTES, "%s%s%s", compare_measure_words(measure),
                   unit[0] != '\0' ? ", " : "", unit);
    return text;
}

const char *compare_proof(void)
{
    return "Proof: in every run each process named the object that its malloc comes from, and it "
           "was "
           "the one meant. What is linked statically, or starts without the preload, can't be "
           "seen.";
}
