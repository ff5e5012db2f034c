// How a workload tells its result: one line for people, one JSON object for programs.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_REPORT_H
#define HAK_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_arguments.h"

enum {
    BENCH_FURTHER_MOST = 3
};

// A further figure.  Its name ends in its unit: "free_ns_per_op", "live_bytes".
struct bench_figure {
    const char *name;
    double value;
};

struct bench_result {
    double figure;     // the one that is compared
    const char *unit;  // of the figure; NULL: the figure is bench_mops of what follows
    bool lower_is_better;
    uint64_t operations;  // one malloc, one realloc or one free each
    uint64_t elapsed_ns;
    size_t thread_count;    // that did timed work
    size_t rss_bytes;       // at the moment the workload cares for; 0: now
    size_t peak_rss_bytes;  // 0: the most since the process started
    struct bench_figure further[BENCH_FURTHER_MOST];  // as far as they have names
};

// Millions of operations a second.
double bench_mops(uint64_t operations, uint64_t elapsed_ns);

// `bytes` in MiB.
double bench_mib(size_t bytes);

// Prints the result to standard output and returns the exit status of the program.
int bench_report(const struct bench_program *program, const struct bench_result *result);

#endif
