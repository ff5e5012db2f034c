// The pictures of the suite: bars of a few rows, and curves over threads.
// Layer: cli.  Needs: gnuplot, suite_report.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_CHART_H
#define HAK_CLI_SUITE_CHART_H

#include "suite_report.h"

enum {
    SUITE_CHART_WIDTH = 1000,
    SUITE_CHART_HEIGHT = 360,
};

struct suite_chart {
    const struct suite_report *report;
    enum suite_cost cost;
    size_t first_row;  // of the report's, all of one suite
    size_t row_count;
    bool is_curve;  // the rows are one program with more and more threads
};

// All that there is to draw.  Returns their number, 0 when memory is out; the caller frees the list.
size_t suite_charts_list(const struct suite_report *report, struct suite_chart **charts);

// What gnuplot needs to draw one of them, with a terminal and an output chosen already.
void suite_chart_write(FILE *out, const struct suite_chart *chart, size_t index);

#endif
