// What `hakmem bench` found out, and the ways to tell it.
// Layer: cli.  Needs: ab_report, compare_allocators, experiment, suite_identity, suite_options.
// SPDX-License-Identifier: MIT
//
// All that is compared is a cost: a rate is turned over.  A ratio is hakmem's cost over that of a peer, of
// medians: below 1 hakmem is better.  Its interval is that of the pairs of one round.
#ifndef HAK_CLI_SUITE_REPORT_H
#define HAK_CLI_SUITE_REPORT_H

#include "ab_report.h"
#include "compare_allocators.h"
#include "experiment.h"
#include "suite_identity.h"
#include "suite_latency.h"
#include "suite_options.h"

#include <stdio.h>

enum suite_cost {
    COST_TIME,
    COST_CPU,
    COST_RSS,    // at the peak
    COST_IDLE,   // resident after the idle time
    COST_CALLS,  // of the system
    COST_COUNT,

    COST_TABLE_COUNT = COST_RSS + 1  // those of nearly every row
};

enum {
    NO_ALLOCATOR = COMPARE_ALLOCATORS_MOST
};

// Several ratios, or one, with what is known of it at 95 %.
struct suite_ratio {
    double ratio;
    double low;   // 0 and infinity when nothing is known: too few rounds
    double high;  //
    size_t row_count;
};

// One allocator on one row.
struct suite_cell {
    bool is_there;
    double median;  // of the cost
    struct suite_ratio ratio;
};

struct suite_row {
    const struct suite_workload *workload;
    struct suite_program program;
    struct experiment_measure measure;
    struct experiment_side *sides;               // as far as their runs succeed
    size_t allocators[COMPARE_ALLOCATORS_MOST];  // of the sides
    size_t side_count;
    size_t round_count;
    double round_seconds;                   // as the warm-up took
    double calls[COMPARE_ALLOCATORS_MOST];  // of the system; 0: not counted
    struct suite_latency latencies[COMPARE_ALLOCATORS_MOST];
    struct suite_cell cells[COST_COUNT][COMPARE_ALLOCATORS_MOST];
    size_t best[COST_COUNT];  // of the peers, or NO_ALLOCATOR
};

struct suite_report {
    const struct suite_options *options;
    int core;  // of the rows with one thread; RUN_CORE_ANY: not pinned
    char machine[AB_MACHINE_BYTES];
    struct compare_allocators allocators;
    struct suite_identity identities[COMPARE_ALLOCATORS_MOST];
    size_t ours;
    struct suite_row *rows;
    size_t row_count;
    char **left_out;  // sentences
    size_t left_out_count;
    struct suite_ratio means[SUITE_COUNT][COST_COUNT][COMPARE_ALLOCATORS_MOST];
    struct suite_ratio frontiers[SUITE_COUNT][COST_COUNT];
};

// Keeps the sentence for the report, and says it.
void suite_leave_out(struct suite_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Fills cells, best, means and frontiers.
void suite_judge(struct suite_report *report);

// True when the allocator is neither ours nor another build of hakmem.
bool suite_is_peer(const struct suite_report *report, size_t allocator);

// True when the suite has a row that ran.
bool suite_has_rows(const struct suite_report *report, enum suite_id suite);

// "peak memory"
const char *suite_cost_words(enum suite_cost cost);

// "63.51 M ops/s": what a cost of this row is, as the program tells it.
enum {
    SUITE_FIGURE_BYTES = 64
};
const char *suite_figure_text(const struct suite_row *row, enum suite_cost cost, double value,
                              char text[SUITE_FIGURE_BYTES]);

// "0.943 [0.930, 0.957]", the interval only where it is known.
enum {
    SUITE_RATIO_BYTES = 64
};
const char *suite_ratio_text(const struct suite_ratio *ratio, char text[SUITE_RATIO_BYTES]);

// The ratio to the best peer of the row, or NULL.
const struct suite_ratio *suite_frontier_ratio(const struct suite_row *row, enum suite_cost cost);

// The rows of a suite, or of all (SUITE_COUNT), those where hakmem's time is worst first.  Returns their
// number; the caller frees the list.
size_t suite_sort_rows(const struct suite_report *report, enum suite_id suite,
                       const struct suite_row ***rows);

// A line for each allocator on each row whose calls were timed, or nothing.  Times are in nanoseconds: of
// malloc the ranks p50, p99, p99.9 and the longest, then of free.
struct suite_latency_form {
    const char *start;
    const char *separator;
    const char *end;
    int name_columns;
    int number_columns;
};
void suite_latency_print(FILE *out, const struct suite_report *report, enum suite_id suite,
                         const struct suite_latency_form *form);
bool suite_has_latency(const struct suite_report *report, enum suite_id suite);

// For people, on a terminal.
void suite_table_print(FILE *out, const struct suite_report *report);

// In the form of docs/analysis/.
void suite_record_print(FILE *out, const struct suite_report *report);

// Each returns false, having said why.
bool suite_json_write(const struct suite_report *report, const char *path);
bool suite_plot_write(const struct suite_report *report, const char *path);
bool suite_html_write(const struct suite_report *report, const char *path);

#endif
