// The result of an A/B for people.
// SPDX-License-Identifier: MIT
#include "ab_report.h"

#include <math.h>
#include <string.h>

static const char *const side_names[AB_SIDE_COUNT] = {"A", "B", "A again"};

static void print_head(FILE *out, const struct ab_report *report)
{
    char unit[MEASURE_TEXT_BYTES];
    const struct experiment_measure *measure = report->measure;
    (void)experiment_measure_unit(measure, report->comparisons[0].result.a.mean, unit);
    ab_words_write_program(out, report);
    (void)fprintf(out, "\nmeasured: %s%s%s, %s is better\n", measure->name,
                  unit[0] != '\0' ? " in " : "", unit,
                  measure->lower_is_better ? "lower" : "higher");
    if (report->core == RUN_CORE_ANY) {
        (void)fprintf(out, "runs: in turns, on any core");
    } else {
        (void)fprintf(out, "runs: in turns, pinned to core %d", report->core);
    }
    (void)fprintf(out, "; hakmem %s served all %zu of them\n", report->version, report->run_count);
}

static void print_side(FILE *out, const struct ab_report *report, const char *name,
                       const struct abtest_summary *summary, double like)
{
    char mean[MEASURE_TEXT_BYTES];
    char median[MEASURE_TEXT_BYTES];
    char sd[MEASURE_TEXT_BYTES];
    (void)fprintf(out, "%-8s %5zu %10s %10s %10s %7.2f%%\n", name, summary->count,
                  experiment_measure_format(report->measure, summary->mean, like, mean),
                  experiment_measure_format(report->measure, summary->median, like, median),
                  experiment_measure_format(report->measure, summary->sd, like, sd),
                  100 * summary->cv);
}

static void print_evidence(FILE *out, const struct abtest_result *result)
{
    char level[AB_LEVEL_BYTES];
    const struct abtest_interval *interval = &result->interval;
    (void)fprintf(out, "%-14s %.4f", "B/A", interval->ratio);
    if (isfinite(interval->high)) {
        (void)fprintf(out, ", %s interval %.4f to %.4f",
                      ab_words_level(interval->error_rate, level), interval->low, interval->high);
    }
    (void)fprintf(out, "   (above 1: B is better)\n");
    (void)fprintf(out, "%-14s p = %.4f\n", "signed-rank", result->p_signed_rank);
    if (isfinite(result->noise_floor)) {
        (void)fprintf(out, "%-14s %.2f %%: A against itself %.4f, %.4f to %.4f\n", "noise floor",
                      100 * result->noise_floor, result->control.ratio, result->control.low,
                      result->control.high);
    } else {
        (void)fprintf(out, "%-14s not known from so few rounds\n", "noise floor");
    }
    (void)fprintf(out, "%-14s %s: mean %+.2f %%, median %+.2f %%\n", "memo's rule",
                  ab_words_memo(result->memo), 100 * result->mean_gain, 100 * result->median_gain);
    (void)fprintf(out, "%-14s %s\n", "evidence", ab_words_evidence(result->evidence));
}

static void print_comparison(FILE *out, const struct ab_report *report,
                             const struct ab_comparison *comparison)
{
    char sentence[AB_SENTENCE_BYTES];
    const struct abtest_result *result = &comparison->result;
    double like = result->a.mean;
    (void)fprintf(out, "\nA: %s\nB: %s\n\n", comparison->texts[AB_SIDE_A],
                  comparison->texts[AB_SIDE_B]);
    (void)fprintf(out, "%-8s %5s %10s %10s %10s %8s\n", "side", "n", "mean", "median", "sd", "CV");
    print_side(out, report, side_names[AB_SIDE_A], &result->a, like);
    print_side(out, report, side_names[AB_SIDE_B], &result->b, like);
    print_side(out, report, side_names[AB_SIDE_CONTROL], &result->a_again, like);
    (void)fputc('\n', out);
    print_evidence(out, result);
    ab_words_conclude(comparison, sentence);
    (void)fprintf(out, "\n%s: %s\n", ab_words_verdict(result->verdict), sentence);
}

static void print_overview(FILE *out, const struct ab_report *report)
{
    (void)fprintf(out, "\nAll together, corrected for %zu tries:\n", report->comparison_count);
    for (size_t i = 0; i < report->comparison_count; i++) {
        const struct ab_comparison *comparison = &report->comparisons[i];
        (void)fprintf(out, "%-10s %.4f  %s\n", ab_words_verdict(comparison->result.verdict),
                      comparison->result.interval.ratio, comparison->texts[AB_SIDE_B]);
    }
}

void ab_table_print(FILE *out, const struct ab_report *report)
{
    print_head(out, report);
    for (size_t i = 0; i < report->comparison_count; i++) {
        print_comparison(out, report, &report->comparisons[i]);
    }
    if (report->comparison_count > 1) {
        print_overview(out, report);
    }
}
