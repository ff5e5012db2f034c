// What `hakmem compare` found out, and the ways to tell it.
// Layer: cli.  Needs: compare_allocators, compare_options, experiment.
// SPDX-License-Identifier: MIT
//
// All measures are costs.  A ratio is an allocator's cost over that of the first: below 1 is better.
#ifndef HAK_CLI_COMPARE_REPORT_H
#define HAK_CLI_COMPARE_REPORT_H

#include "ab_report.h"
#include "compare_allocators.h"
#include "compare_options.h"
#include "experiment.h"

#include <stdio.h>

enum {
    COMPARE_TIME,
    COMPARE_CPU,
    COMPARE_RSS,
    COMPARE_FAULTS,
    COMPARE_MEASURE_COUNT,
};

enum compare_finding {
    COMPARE_LESS,
    COMPARE_MORE,
    COMPARE_NOT_SHOWN,
    COMPARE_NOT_BELIEVED,  // the first differs from itself
    COMPARE_TOO_FEW        // rounds
};

// One allocator and one measure, against the first.
struct compare_cell {
    struct abtest_result result;  // B is the allocator; "better" there means higher here
    enum compare_finding finding;
};

struct compare_report {
    const struct compare_options *options;
    char **words;      // the program
    char **run_words;  // what is started for it: mostly the same
    int core;          // RUN_CORE_ANY: not pinned
    char version[64];
    char machine[AB_MACHINE_BYTES];
    struct compare_allocators allocators;
    struct experiment_side *sides;  // of each allocator, and of the first again
    size_t round_count;
    size_t run_count;
    size_t thread_count;  // the most that allocated in one run
    struct experiment_measure measures[COMPARE_MEASURE_COUNT];
    struct compare_cell cells[COMPARE_MEASURE_COUNT][COMPARE_ALLOCATORS_MOST];  // [0]: unused
};

// Fills measures and cells.
void compare_judge(struct compare_report *report);

// "less", "more" and so on.
const char *compare_words(enum compare_finding finding);

// What a side of the table is: an allocator, or the first again where `side` is their count.
void compare_summarize(const struct compare_report *report, size_t measure, size_t side,
                       struct abtest_summary *summary);

// "peak memory"
const char *compare_measure_words(size_t measure);

// "peak memory, MiB", as the head of the figures.
enum {
    COMPARE_TITLE_BYTES = 96
};
const char *compare_title(const struct compare_report *report, size_t measure,
                          char text[COMPARE_TITLE_BYTES]);

// How it was proved which allocator ran.
const char *compare_proof(void);

// For people, on a terminal.
void compare_table_print(FILE *out, const struct compare_report *report);

// In the form of docs/analysis/.
void compare_record_print(FILE *out, const struct compare_report *report);

// Returns an exit status.
int compare_json_print(const struct compare_report *report);

// Draws the ratios with their intervals.  Returns false, having said why.
bool compare_plot_write(const struct compare_report *report, const char *path);

#endif
