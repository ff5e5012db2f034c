// How long single calls of malloc and free take: runs of their own, in which every call is timed.
// Layer: cli.  Needs: experiment_environment, experiment_run, near_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_LATENCY_H
#define HAK_CLI_SUITE_LATENCY_H

#include "experiment_proof.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum latency_call {
    LATENCY_MALLOC,
    LATENCY_FREE,
    LATENCY_CALL_COUNT
};

enum latency_rank {
    LATENCY_P50,
    LATENCY_P99,
    LATENCY_P999,
    LATENCY_MAX,
    LATENCY_RANK_COUNT
};

// In nanoseconds, of one allocator on one row: each the median of a few runs.
struct suite_latency {
    bool is_there;
    double ns[LATENCY_CALL_COUNT][LATENCY_RANK_COUNT];
};

// The library that times, and where it writes.
struct suite_latency_probe {
    char library[PATH_MAX];
    struct experiment_proof file;
};

// Returns false, having said why, when the library isn't there.
bool suite_latency_open(struct suite_latency_probe *probe);

// `object`: of the allocator, or NULL for none preloaded.  `latency` says by itself whether it is there.
void suite_latency_measure(const struct suite_latency_probe *probe, char **words, int core,
                           const char *object, struct suite_latency *latency);

#endif
