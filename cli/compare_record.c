// The result of a comparison of allocators as a record for docs/analysis/.
// SPDX-License-Identifier: MIT
#include "compare_report.h"
#include "shell_words.h"

static void print_ratios(FILE *out, const struct compare_report *report, size_t measure)
{
    (void)fprintf(out, "%s over %s:", compare_measure_words(measure),
                  report->allocators.list[0].name);
    for (size_t i = 1; i < report->allocators.count; i++) {
        (void)fprintf(out, "%s %s %.4f", i > 1 ? "," : "", report->allocators.list[i].name,
                      report->cells[measure][i].result.interval.ratio);
    }
}

// The line from which the index of docs/analysis/ is made.
static void print_status(FILE *out, const struct compare_report *report)
{
    (void)fputs("**Status.** measured: ", out);
    print_ratios(out, report, COMPARE_TIME);
    (void)fputs("; ", out);
    print_ratios(out, report, COMPARE_RSS);
    (void)fputs(".\n\n", out);
}

static void print_head(FILE *out, const struct compare_report *report)
{
    const struct compare_allocators *allocators = &report->allocators;
    (void)fputs("# Allocators compared: ", out);
    for (size_t i = 0; i < allocators->count; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? ", " : "", allocators->list[i].name);
    }
    (void)fputs("\n\n", out);
    print_status(out, report);
    (void)fputs("**Question.** What does each of them cost `", out);
    shell_words_write_program(out, report->words, report->options->common.workload);
    (void)fprintf(out, "`?\n\n**Machine.** %s.\n\n**Command.** `", report->machine);
    shell_words_write_command(out, report->options->common.argv);
    (void)fprintf(out,
                  "`\n%zu rounds of all and %s again, each in a random order and then backwards "
                  "(seed %llu); a warm-up of each thrown away; ",
                  report->round_count, allocators->list[0].name,
                  (unsigned long long)report->options->common.seed);
    if (report->core == RUN_CORE_ANY) {
        (void)fputs("not pinned. ", out);
    } else {
        (void)fprintf(out, "pinned to core %d. ", report->core);
    }
    (void)fprintf(out, "hakmem %s. %s\n", report->version, compare_proof());
}

static void print_row(FILE *out, const struct compare_report *report, size_t measure, size_t side,
                      double like)
{
    char mean[MEASURE_TEXT_BYTES];
    char median[MEASURE_TEXT_BYTES];
    struct abtest_summary summary;
    const struct compare_allocators *allocators = &report->allocators;
    const struct experiment_measure *kind = &report->measures[measure];
    bool is_again = side == allocators->count;
    compare_summarize(report, measure, side, &summary);
    (void)fprintf(out, "| %s%s | %s | %s | %.2f %% |", allocators->list[is_again ? 0 : side].name,
                  is_again ? " again" : "",
                  experiment_measure_format(kind, summary.mean, like, mean),
                  experiment_measure_format(kind, summary.median, like, median), 100 * summary.cv);
    if (side == 0) {
        (void)fputs(" 1 | |\n", out);
        return;
    }
    const struct compare_cell *cell = &report->cells[measure][is_again ? 1 : side];
    const struct abtest_interval *interval =
        is_again ? &cell->result.control : &cell->result.interval;
    (void)fprintf(out, " %.4f [%.4f, %.4f] | %s |\n", interval->ratio, interval->low,
                  interval->high, is_again ? "the noise floor" : compare_words(cell->finding));
}

void compare_record_print(FILE *out, const struct compare_report *report)
{
    const char *first_name = report->allocators.list[0].name;
    print_head(out, report);
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        char title[COMPARE_TITLE_BYTES];
        struct abtest_summary first;
        compare_summarize(report, measure, 0, &first);
        (void)fprintf(out,
                      "\n| %s | mean | median | CV | over %s, 95 %% interval | in all |\n"
                      "|---|---|---|---|---|---|\n",
                      compare_title(report, measure, title), first_name);
        for (size_t side = 0; side <= report->allocators.count; side++) {
            print_row(out, report, measure, side, first.mean);
        }
    }
    (void)fprintf(out,
                  "\nRatios are costs over those of %s: below 1 is better. *In all*: less or more, "
                  "corrected for the %zu ratios of these tables (Holm).\n",
                  first_name, COMPARE_MEASURE_COUNT * (report->allocators.count - 1));
}
