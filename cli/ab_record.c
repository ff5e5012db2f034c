// The result of an A/B as a record for docs/analysis/.
// SPDX-License-Identifier: MIT
#include "ab_report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const side_names[AB_SIDE_COUNT] = {"A", "B", "A again"};

// "0007: " from docs/analysis/0007-name.md
static void print_number(FILE *out, const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    size_t digit_count = 0;
    while (name != NULL && isdigit((unsigned char)name[digit_count])) {
        digit_count++;
    }
    if (digit_count > 0) {
        (void)fprintf(out, "%.*s: ", (int)digit_count, name);
    }
}

// Status words are those of docs/analysis/README.md.  Several settings have the status of the one
// that asks for most.
static const char *find_status(const struct ab_report *report,
                               const size_t counts[AB_VERDICT_COUNT])
{
    if (counts[ABTEST_GO] > 0) {
        return report->is_promoted ? "adopted" : "proposed";
    }
    if (counts[ABTEST_UNDECIDED] > 0) {
        return "undecided";
    }
    return counts[ABTEST_NEUTRAL] > 0 ? "neutral" : "rejected";
}

// The line from which the index of docs/analysis/ is made.
static void print_status(FILE *out, const struct ab_report *report)
{
    char finding[AB_SENTENCE_BYTES];
    size_t counts[AB_VERDICT_COUNT] = {0};
    for (size_t i = 0; i < report->comparison_count; i++) {
        counts[report->comparisons[i].result.verdict]++;
    }
    (void)fprintf(out, "**Status.** %s: ", find_status(report, counts));
    if (report->comparison_count == 1) {
        (void)ab_words_find(&report->comparisons[0], finding);
        (void)fprintf(out, "%s", finding);
        if (report->is_promoted) {
            (void)fprintf(out, ", in the preset %s", report->options->profile);
        }
        (void)fputs(".\n\n", out);
        return;
    }
    (void)fprintf(out, "of %zu settings", report->comparison_count);
    const char *comma = "";
    for (size_t verdict = 0; verdict < AB_VERDICT_COUNT; verdict++) {
        if (counts[verdict] > 0) {
            (void)fprintf(out, "%s %zu %s", comma, counts[verdict],
                          ab_words_verdict((enum abtest_verdict)verdict));
            comma = ",";
        }
    }
    (void)fputs(".\n\n", out);
}

static void print_head(FILE *out, const struct ab_report *report)
{
    const struct ab_comparison *first = &report->comparisons[0];
    bool is_single = report->comparison_count == 1;
    (void)fputs("# ", out);
    print_number(out, report->options->record_path);
    if (is_single) {
        (void)fprintf(out, "%s against %s\n\n", first->texts[AB_SIDE_B], first->texts[AB_SIDE_A]);
    } else {
        (void)fprintf(out, "%zu settings against %s\n\n", report->comparison_count,
                      first->texts[AB_SIDE_A]);
    }
    print_status(out, report);
    (void)fprintf(out, "**Question.** Does %s make `", is_single ? "B" : "any of them");
    ab_words_write_program(out, report);
    (void)fprintf(out, "` better in %s (%s is better)?\n\n", report->measure->name,
                  report->measure->lower_is_better ? "lower" : "higher");
    (void)fprintf(out, "**Machine.** %s.\n\n**Command.** `", report->machine);
    ab_words_write_command(out, report);
    (void)fprintf(out,
                  "`\nRounds of A, B and A again, each in a random order and then backwards "
                  "(seed %llu); a warm-up of each thrown away; ",
                  (unsigned long long)report->options->common.seed);
    if (report->core == RUN_CORE_ANY) {
        (void)fputs("not pinned. ", out);
    } else {
        (void)fprintf(out, "pinned to core %d. ", report->core);
    }
    (void)fprintf(out, "hakmem %s served all %zu runs.\n", report->version, report->run_count);
}

static void print_side(FILE *out, const struct ab_report *report,
                       const struct ab_comparison *comparison, size_t side,
                       const struct abtest_summary *summary)
{
    char mean[MEASURE_TEXT_BYTES];
    char median[MEASURE_TEXT_BYTES];
    char sd[MEASURE_TEXT_BYTES];
    double like = comparison->result.a.mean;
    (void)fprintf(out, "| %s | %s | %zu | %s | %s | %s | %.2f %% |\n", side_names[side],
                  comparison->texts[side], summary->count,
                  experiment_measure_format(report->measure, summary->mean, like, mean),
                  experiment_measure_format(report->measure, summary->median, like, median),
                  experiment_measure_format(report->measure, summary->sd, like, sd),
                  100 * summary->cv);
}

static void print_runs(FILE *out, const struct ab_report *report,
                       const struct ab_comparison *comparison)
{
    (void)fputs("\nEvery run, by round:\n\n", out);
    for (size_t side = 0; side < AB_SIDE_COUNT; side++) {
        (void)fprintf(out, "%s:", side_names[side]);
        for (size_t round = 0; round < comparison->round_count; round++) {
            char figure[MEASURE_TEXT_BYTES];
            (void)fprintf(out, " %s",
                          experiment_measure_format(report->measure,
                                                    comparison->sides[side].figures[round],
                                                    comparison->result.a.mean, figure));
        }
        (void)fputs(side + 1 < AB_SIDE_COUNT ? "  \n" : "\n", out);
    }
}

static void print_comparison(FILE *out, const struct ab_report *report,
                             const struct ab_comparison *comparison)
{
    char unit[MEASURE_TEXT_BYTES];
    char level[AB_LEVEL_BYTES];
    char sentence[AB_SENTENCE_BYTES];
    const struct abtest_result *result = &comparison->result;
    const struct abtest_interval *interval = &result->interval;
    (void)experiment_measure_unit(report->measure, result->a.mean, unit);
    (void)fprintf(out, "\n| side | settings | n | mean%s%s | median | sd | CV |\n",
                  unit[0] != '\0' ? ", " : "", unit);
    (void)fputs("|---|---|---|---|---|---|---|\n", out);
    print_side(out, report, comparison, AB_SIDE_A, &result->a);
    print_side(out, report, comparison, AB_SIDE_B, &result->b);
    print_side(out, report, comparison, AB_SIDE_CONTROL, &result->a_again);
    (void)fputs("\n| B against A | above 1: B is better |\n|---|---|\n", out);
    (void)fprintf(out, "| ratio, %s interval | %.4f [%.4f, %.4f] |\n",
                  ab_words_level(interval->error_rate, level), interval->ratio, interval->low,
                  interval->high);
    (void)fprintf(out, "| signed-rank p | %.4f |\n", result->p_signed_rank);
    (void)fprintf(out, "| A against itself, the noise floor | %.4f [%.4f, %.4f] |\n",
                  result->control.ratio, result->control.low, result->control.high);
    (void)fprintf(out, "| memo's rule | %s: mean %+.2f %%, median %+.2f %% |\n",
                  ab_words_memo(result->memo), 100 * result->mean_gain, 100 * result->median_gain);
    (void)fprintf(out, "| evidence | %s |\n", ab_words_evidence(result->evidence));
    print_runs(out, report, comparison);
    ab_words_conclude(comparison, sentence);
    (void)fprintf(out, "\n**Verdict: %s.** %s\n", ab_words_verdict(result->verdict), sentence);
}

void ab_record_print(FILE *out, const struct ab_report *report)
{
    print_head(out, report);
    for (size_t i = 0; i < report->comparison_count; i++) {
        if (report->comparison_count > 1) {
            (void)fprintf(out, "\n## %s\n", report->comparisons[i].texts[AB_SIDE_B]);
        }
        print_comparison(out, report, &report->comparisons[i]);
    }
}
