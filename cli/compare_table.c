// The result of a comparison of allocators for people.
// SPDX-License-Identifier: MIT
#include "compare_report.h"
#include "shell_words.h"

#include <math.h>

enum {
    NAME_COLUMNS = COMPARE_NAME_BYTES + sizeof " again"
};

static void print_head(FILE *out, const struct compare_report *report)
{
    shell_words_write_program(out, report->words, report->options->common.workload);
    (void)fprintf(out, "\nruns: %zu rounds in turns, ", report->round_count);
    if (report->core == RUN_CORE_ANY) {
        (void)fprintf(out, "on any core\n");
    } else {
        (void)fprintf(out, "pinned to core %d\n", report->core);
    }
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct compare_allocator *allocator = &report->allocators.list[i];
        (void)fprintf(out, "%s %s%s%s\n", allocator->name, allocator->object,
                      allocator->is_hakmem ? ", version " : "",
                      allocator->is_hakmem ? report->version : "");
    }
}

static void print_figures(FILE *out, const struct compare_report *report, size_t measure,
                          size_t side, double like)
{
    const struct compare_allocators *allocators = &report->allocators;
    bool is_again = side == allocators->count;
    char name[NAME_COLUMNS];
    char mean[MEASURE_TEXT_BYTES];
    char median[MEASURE_TEXT_BYTES];
    struct abtest_summary summary;
    const struct experiment_measure *kind = &report->measures[measure];
    compare_summarize(report, measure, side, &summary);
    (void)snprintf(name, sizeof name, "%s%s", allocators->list[is_again ? 0 : side].name,
                   is_again ? " again" : "");
    (void)fprintf(out, "%-16s %10s %10s %7.2f%%", name,
                  experiment_measure_format(kind, summary.mean, like, mean),
                  experiment_measure_format(kind, summary.median, like, median), 100 * summary.cv);
}

static void print_ratio(FILE *out, const struct abtest_interval *interval)
{
    (void)fprintf(out, " %9.4f", interval->ratio);
    if (isfinite(interval->high)) {
        (void)fprintf(out, "  %.4f to %.4f", interval->low, interval->high);
    }
}

static void print_measure(FILE *out, const struct compare_report *report, size_t measure)
{
    char title[COMPARE_TITLE_BYTES];
    struct abtest_summary first;
    const struct compare_allocators *allocators = &report->allocators;
    const struct abtest_result *any = &report->cells[measure][1].result;
    compare_summarize(report, measure, 0, &first);
    (void)fprintf(out, "\n%-16s %10s %10s %8s   against %s\n",
                  compare_title(report, measure, title), "mean", "median", "CV",
                  allocators->list[0].name);
    print_figures(out, report, measure, 0, first.mean);
    (void)fputc('\n', out);
    for (size_t side = 1; side < allocators->count; side++) {
        const struct compare_cell *cell = &report->cells[measure][side];
        print_figures(out, report, measure, side, first.mean);
        print_ratio(out, &cell->result.interval);
        (void)fprintf(out, "  %s\n", compare_words(cell->finding));
    }
    print_figures(out, report, measure, allocators->count, first.mean);
    print_ratio(out, &any->control);
    (void)fputs(any->is_control_clean ? "  the noise floor\n" : "  differs from itself!\n", out);
}

void compare_table_print(FILE *out, const struct compare_report *report)
{
    print_head(out, report);
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        print_measure(out, report, measure);
    }
    (void)fprintf(
        out,
        "\nRatios are costs over those of %s: below 1 is better. Intervals are at 95 %% "
        "each; less and\nmore hold for the whole table, corrected for its %zu ratios.\n%s\n",
        report->allocators.list[0].name, COMPARE_MEASURE_COUNT * (report->allocators.count - 1),
        compare_proof());
}
