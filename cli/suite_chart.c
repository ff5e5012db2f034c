// SPDX-License-Identifier: MIT
#include "suite_chart.h"

#include "gnuplot.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MOST = 8,  // in one chart of bars
    TITLE_BYTES = 128,
};

// The name of a row of `scaling` without its number of threads.
static size_t series_length(const char *name)
{
    return (size_t)(strrchr(name, '-') - name);
}

static bool is_same_chart(const struct suite_row *first, const struct suite_row *row, bool is_curve)
{
    if (first->workload->suite != row->workload->suite) {
        return false;
    }
    size_t length = is_curve ? series_length(first->workload->name) : 0;
    return !is_curve || (series_length(row->workload->name) == length &&
                         strncmp(first->workload->name, row->workload->name, length) == 0);
}

// Of the rows from `first` on, as many as belong into one chart.
static size_t count_rows(const struct suite_report *report, size_t first, bool is_curve)
{
    size_t count = 1;
    size_t most = is_curve ? report->row_count : ROWS_MOST;
    while (count < most && first + count < report->row_count &&
           is_same_chart(&report->rows[first], &report->rows[first + count], is_curve)) {
        count++;
    }
    return count;
}

static bool has_cost(const struct suite_report *report, const struct suite_chart *chart)
{
    for (size_t i = 0; i < chart->row_count; i++) {
        const struct suite_row *row = &report->rows[chart->first_row + i];
        if (row->cells[chart->cost][report->ours].is_there) {
            return true;
        }
    }
    return false;
}

// The charts of some rows, one for each cost that they have.
static size_t list_costs(const struct suite_chart *rows, struct suite_chart *charts)
{
    size_t count = 0;
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        struct suite_chart chart = *rows;
        chart.cost = cost;
        if (has_cost(rows->report, &chart) && !(rows->is_curve && cost == COST_CPU)) {
            charts[count++] = chart;
        }
    }
    return count;
}

size_t suite_charts_list(const struct suite_report *report, struct suite_chart **charts)
{
    size_t count = 0;
    *charts = calloc(report->row_count * COST_COUNT, sizeof **charts);
    for (size_t first = 0; *charts != NULL && first < report->row_count;) {
        bool is_curve = report->rows[first].workload->suite == SUITE_SCALING;
        size_t row_count = count_rows(report, first, is_curve);
        const struct suite_chart rows = {report, COST_TIME, first, row_count, is_curve};
        count += list_costs(&rows, *charts + count);
        first += row_count;
    }
    return count;
}

// Bars are costs over the least of the row, curves are figures as they are.
static double value_of(const struct suite_chart *chart, const struct suite_row *row,
                       size_t allocator)
{
    double least = 0;
    for (size_t i = 0; i < chart->report->allocators.count; i++) {
        const struct suite_cell *cell = &row->cells[chart->cost][i];
        if (cell->is_there && (least <= 0 || cell->median < least)) {
            least = cell->median;
        }
    }
    double median = row->cells[chart->cost][allocator].median;
    if (!chart->is_curve) {
        return median / least;
    }
    return chart->cost == COST_TIME ? 1e-6 / median : median;
}

static void write_values(FILE *out, const struct suite_chart *chart, const struct suite_row *row)
{
    (void)fprintf(out, "\"%s\" %zu", row->workload->name, row->workload->thread_count);
    for (size_t allocator = 0; allocator < chart->report->allocators.count; allocator++) {
        if (row->cells[chart->cost][allocator].is_there) {
            (void)fprintf(out, " %.6g", value_of(chart, row, allocator));
        } else {
            (void)fputs(" ?", out);
        }
    }
    (void)fputc('\n', out);
}

static void write_data(FILE *out, const struct suite_chart *chart, size_t index)
{
    const struct suite_report *report = chart->report;
    (void)fprintf(out, "$chart%zu << END\n", index);
    for (size_t i = 0; i < chart->row_count; i++) {
        const struct suite_row *row = &report->rows[chart->first_row + i];
        if (row->cells[chart->cost][report->ours].is_there) {
            write_values(out, chart, row);
        }
    }
    (void)fputs("END\n", out);
}

static const char *colour_of(const struct suite_report *report, size_t allocator)
{
    static const char *const colours[] = {"#b0b0b0", "#4682b4", "#6aa84f", "#c27ba0", "#8e7cc3",
                                          "#a67c52", "#45818e", "#cc4125", "#7f6000", "#1155cc"};
    return allocator == report->ours ? "#ff8c00"
                                     : colours[allocator % (sizeof colours / sizeof colours[0])];
}

static void write_title(FILE *out, const struct suite_chart *chart)
{
    const struct suite_row *first = &chart->report->rows[chart->first_row];
    const char *name = first->workload->name;
    char title[TITLE_BYTES];
    if (!chart->is_curve) {
        (void)snprintf(title, sizeof title, "%s: %s over the least of the row",
                       suite_name(first->workload->suite), suite_cost_words(chart->cost));
    } else {
        (void)snprintf(title, sizeof title, "%.*s: %s over threads", (int)series_length(name), name,
                       chart->cost == COST_TIME ? "M ops/s" : "peak memory, MiB");
    }
    (void)fputs("set title ", out);
    gnuplot_write_quoted(out, title);
}

static const char common[] = "set datafile missing '?'\nset grid y\nset bmargin 5\n"
                             "set key outside right top vertical\n";
static const char curve[] = "set logscale x 2\nset yrange [0:*]\nset xlabel 'threads'\n"
                            "set xtics autofreq norotate\nset style data linespoints";
static const char bars[] = "unset logscale x\nset yrange [0:* < 4]\nunset xlabel\n"
                           "set xtics scale 0 rotate by 15 right\nset style data histogram\n"
                           "set style histogram clustered gap 1\nset style fill solid 0.8 border";

void suite_chart_write(FILE *out, const struct suite_chart *chart, size_t index)
{
    const struct suite_report *report = chart->report;
    write_data(out, chart, index);
    write_title(out, chart);
    (void)fprintf(out, "\n%s\n%s\n", common, chart->is_curve ? curve : bars);
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        (void)fprintf(out, "%s$chart%zu using %s%zu%s linecolor rgb '%s' title ",
                      allocator == 0 ? "plot " : ", ", index, chart->is_curve ? "2:" : "",
                      allocator + 3, chart->is_curve ? "" : ":xticlabels(1)",
                      colour_of(report, allocator));
        gnuplot_write_quoted(out, report->allocators.list[allocator].name);
    }
    (void)fputc('\n', out);
}
