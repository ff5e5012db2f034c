// What is measured of a run: a figure that the program prints, or what its run cost.
// Layer: cli.  Needs: experiment_run, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_MEASURE_H
#define HAK_CLI_EXPERIMENT_MEASURE_H

#include "experiment_run.h"

#include <regex.h>
#include <stdbool.h>

enum measure_kind {
    MEASURE_THROUGHPUT,  // printed: "58.1 M ops/s"
    MEASURE_TIME,        // from start to end, in seconds
    MEASURE_CPU,         // user and system time, in seconds
    MEASURE_RSS,         // peak resident memory, in MiB
    MEASURE_FAULTS,      // page faults
    MEASURE_PATTERN,     // printed: the group of a regular expression
};

struct experiment_measure {
    enum measure_kind kind;
    char name[64];
    const char *unit;  // "" for a pattern
    bool lower_is_better;
    regex_t pattern;  // of the kinds that are printed
};

// Reads throughput, time, cpu, rss, faults, or NAME=regex, an extended regular expression whose first group
// is the figure.  Returns false, having said why, when it is none of these.
bool experiment_measure_read(struct experiment_measure *measure, const char *text);

// True when the figure comes from what the program prints.
bool experiment_measure_needs_output(const struct experiment_measure *measure);

// What a run cost, of a measure that doesn't need the output.
double experiment_measure_cost(const struct experiment_measure *measure,
                               const struct experiment_cost *cost);

enum measure_finding {
    MEASURE_TAKEN,
    MEASURE_MISSING,
    MEASURE_UNUSABLE,  // not finite, or not above zero: it has no ratio
};

// The figure of a run: of what was printed, the last match counts.
enum measure_finding experiment_measure_take(const struct experiment_measure *measure,
                                             const struct experiment_run *run, double *figure);

// For people to read: as many decimals as give `like` five digits, and a throughput in k, M or G.
// `like` is above zero.
enum {
    MEASURE_TEXT_BYTES = 32
};
const char *experiment_measure_format(const struct experiment_measure *measure, double figure,
                                      double like, char text[MEASURE_TEXT_BYTES]);

// The unit to go with it: "M ops/s", "s", "MiB", or "".
const char *experiment_measure_unit(const struct experiment_measure *measure, double like,
                                    char text[MEASURE_TEXT_BYTES]);

#endif
