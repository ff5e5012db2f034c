// From the figures of runs to ratios, their means and the frontier.
// SPDX-License-Identifier: MIT
#include "suite_report.h"

#include <math.h>
#include <stdlib.h>

// What the clock of the system can't tell from nothing.
static const double least_cost = 1e-6;

const char *suite_cost_words(enum suite_cost cost)
{
    static const char *const words[COST_COUNT] = {[COST_TIME] = "time",
                                                  [COST_CPU] = "CPU time",
                                                  [COST_RSS] = "peak memory",
                                                  [COST_IDLE] = "memory after idle",
                                                  [COST_CALLS] = "system calls"};
    return words[cost];
}

bool suite_is_peer(const struct suite_report *report, size_t allocator)
{
    return allocator != report->ours && !report->identities[allocator].is_hakmem;
}

bool suite_has_rows(const struct suite_report *report, enum suite_id suite)
{
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->rows[i].workload->suite == suite) {
            return true;
        }
    }
    return false;
}

static double printed_cost(const struct suite_row *row, double figure)
{
    return row->measure.lower_is_better ? figure : 1 / figure;
}

// CPU time after a fixed time is told for the work that was done in it.
static double cost_of_run(const struct suite_row *row, size_t side, enum suite_cost cost,
                          size_t round)
{
    const struct experiment_cost *run = &row->sides[side].costs[round];
    double printed = printed_cost(row, row->sides[side].figures[round]);
    switch (cost) {
    case COST_CPU:
        return fmax(run->cpu_seconds, least_cost) *
               (suite_figure_has_fixed_time(row->workload->figure) ? printed : 1);
    case COST_RSS:
        return run->peak_mib;
    default:
        return printed;
    }
}

static bool has_cost(const struct suite_row *row, enum suite_cost cost)
{
    bool is_idle = row->workload->figure == FIGURE_IDLE;
    return cost == COST_CPU || cost == COST_RSS || (cost == COST_IDLE) == is_idle;
}

static void fill_costs(const struct suite_row *row, size_t side, enum suite_cost cost,
                       double *values)
{
    for (size_t round = 0; round < row->round_count; round++) {
        values[round] = cost_of_run(row, side, cost, round);
    }
}

static size_t find_side(const struct suite_row *row, size_t allocator)
{
    size_t side = 0;
    while (side < row->side_count && row->allocators[side] != allocator) {
        side++;
    }
    return side;
}

// Costs are given as if more were better, so that the ratio is not turned over.
static void compare(const struct suite_report *report, struct suite_row *row, enum suite_cost cost,
                    size_t side)
{
    double ours[ABTEST_PAIRS_MOST];
    double theirs[ABTEST_PAIRS_MOST];
    double gains[ABTEST_PAIRS_MOST];
    struct abtest_summary our_summary;
    struct abtest_summary their_summary;
    struct abtest_interval interval;
    struct suite_cell *cell = &row->cells[cost][row->allocators[side]];
    const struct abtest_settings settings = {.error_rate = ABTEST_ERROR_RATE,
                                             .resamples = ABTEST_RESAMPLES,
                                             .seed = report->options->common.seed};
    fill_costs(row, find_side(row, report->ours), cost, ours);
    fill_costs(row, side, cost, theirs);
    abtest_summarize(ours, row->round_count, &our_summary);
    abtest_summarize(theirs, row->round_count, &their_summary);
    abtest_gains(theirs, ours, row->round_count, false, gains);
    abtest_interval(gains, row->round_count, &settings, &interval);
    cell->is_there = true;
    cell->median = their_summary.median;
    cell->ratio = (struct suite_ratio){.ratio = our_summary.median / their_summary.median,
                                       .low = interval.low,
                                       .high = interval.high,
                                       .row_count = 1};
}

static void compare_calls(const struct suite_report *report, struct suite_row *row)
{
    double ours = row->calls[report->ours];
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        double theirs = row->calls[allocator];
        row->cells[COST_CALLS][allocator] = (struct suite_cell){
            .is_there = ours > 0 && theirs > 0,
            .median = theirs,
            .ratio = {.ratio = ours / theirs, .high = INFINITY, .row_count = 1}};
    }
}

static size_t find_best(const struct suite_report *report, const struct suite_row *row,
                        enum suite_cost cost)
{
    size_t best = NO_ALLOCATOR;
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        const struct suite_cell *cell = &row->cells[cost][allocator];
        if (cell->is_there && suite_is_peer(report, allocator) &&
            (best == NO_ALLOCATOR || cell->median < row->cells[cost][best].median)) {
            best = allocator;
        }
    }
    return best;
}

static void judge_row(const struct suite_report *report, struct suite_row *row)
{
    for (enum suite_cost cost = 0; cost < COST_CALLS; cost++) {
        for (size_t side = 0; has_cost(row, cost) && side < row->side_count; side++) {
            compare(report, row, cost, side);
        }
    }
    compare_calls(report, row);
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        row->best[cost] = find_best(report, row, cost);
    }
}

const struct suite_ratio *suite_frontier_ratio(const struct suite_row *row, enum suite_cost cost)
{
    return row->best[cost] != NO_ALLOCATOR ? &row->cells[cost][row->best[cost]].ratio : NULL;
}

// The geometric mean.  The intervals of its rows are independent, and symmetric in the logarithm, so
// that their half widths add up as squares.  It says how sure the mean of these rows is, not how other
// rows would come out.
static struct suite_ratio find_mean(const struct suite_report *report, enum suite_id suite,
                                    enum suite_cost cost, size_t allocator)
{
    double sum = 0;
    double squares = 0;
    struct suite_ratio mean = {.high = INFINITY};
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        size_t chosen = allocator != NO_ALLOCATOR ? allocator : row->best[cost];
        if (row->workload->suite != suite || chosen == NO_ALLOCATOR ||
            !row->cells[cost][chosen].is_there) {
            continue;
        }
        const struct suite_ratio *ratio = &row->cells[cost][chosen].ratio;
        double half_width = log(ratio->high / ratio->low) / 2;
        sum += log(ratio->ratio);
        squares += half_width * half_width;
        mean.row_count++;
    }
    if (mean.row_count > 0) {
        double count = (double)mean.row_count;
        mean.ratio = exp(sum / count);
        mean.low = mean.ratio * exp(-sqrt(squares) / count);
        mean.high = mean.ratio * exp(sqrt(squares) / count);
    }
    return mean;
}

static void judge_suite(struct suite_report *report, enum suite_id suite)
{
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
            report->means[suite][cost][allocator] = find_mean(report, suite, cost, allocator);
        }
        report->frontiers[suite][cost] = find_mean(report, suite, cost, NO_ALLOCATOR);
    }
}

void suite_judge(struct suite_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        judge_row(report, &report->rows[i]);
    }
    for (enum suite_id suite = 0; suite < SUITE_COUNT; suite++) {
        judge_suite(report, suite);
    }
}

static double sort_key(const struct suite_row *row)
{
    const struct suite_ratio *time = suite_frontier_ratio(row, COST_TIME);
    const struct suite_ratio *idle = suite_frontier_ratio(row, COST_IDLE);
    return time != NULL ? time->ratio : idle != NULL ? idle->ratio : 0;
}

static int compare_rows(const void *a, const void *b)
{
    double first = sort_key(*(const struct suite_row *const *)a);
    double second = sort_key(*(const struct suite_row *const *)b);
    return (first < second) - (first > second);
}

size_t suite_sort_rows(const struct suite_report *report, enum suite_id suite,
                       const struct suite_row ***rows)
{
    size_t count = 0;
    *rows = calloc(report->row_count, sizeof(struct suite_row *));
    for (size_t i = 0; *rows != NULL && i < report->row_count; i++) {
        if (suite == SUITE_COUNT || report->rows[i].workload->suite == suite) {
            (*rows)[count++] = &report->rows[i];
        }
    }
    if (count > 0) {
        qsort((void *)*rows, count, sizeof(struct suite_row *), compare_rows);
    }
    return count;
}

const char *suite_figure_text(const struct suite_row *row, enum suite_cost cost, double value,
                              char text[SUITE_FIGURE_BYTES])
{
    char number[MEASURE_TEXT_BYTES];
    char unit[MEASURE_TEXT_BYTES];
    if (cost == COST_CALLS) {
        (void)snprintf(text, SUITE_FIGURE_BYTES, "%.0f", value);
    } else if (cost == COST_RSS || cost == COST_IDLE) {
        (void)snprintf(text, SUITE_FIGURE_BYTES, "%.1f MiB", value);
    } else if (cost == COST_CPU) {
        (void)snprintf(text, SUITE_FIGURE_BYTES, "%.4g s", value);
    } else {
        double figure = printed_cost(row, value);  // turned over twice is the figure again
        const char *word = experiment_measure_unit(&row->measure, figure, unit);
        (void)snprintf(text, SUITE_FIGURE_BYTES, "%s%s%s",
                       experiment_measure_format(&row->measure, figure, figure, number),
                       word[0] != '\0' ? " " : "", word);
    }
    return text;
}

const char *suite_ratio_text(const struct suite_ratio *ratio, char text[SUITE_RATIO_BYTES])
{
    int length = snprintf(text, SUITE_RATIO_BYTES, "%.3f", ratio->ratio);
    if (isfinite(ratio->high) && ratio->low > 0) {
        (void)snprintf(text + length, SUITE_RATIO_BYTES - (size_t)length, " [%.3f, %.3f]",
                       ratio->low, ratio->high);
    }
    return text;
}
