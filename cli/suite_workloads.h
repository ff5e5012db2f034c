// The workloads of the suite: the table suite_rows.def, and where their programs are.
// Layer: cli.  Needs: experiment_measure, near_file, program_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_WORKLOADS_H
#define HAK_CLI_SUITE_WORKLOADS_H

#include "experiment_measure.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum suite_id {
    SUITE_DEFAULT,
    SUITE_SCALING,
    SUITE_IDLE,
    SUITE_SMALL,
    SUITE_MIMALLOC_BENCH,
    SUITE_PROGRAMS,
    SUITE_COUNT,
};

// What the figure of a run is.
enum suite_figure {
    FIGURE_TIME,
    FIGURE_RATE,           // printed: operations a second
    FIGURE_US_EACH,        // printed: microseconds for each thread or vector
    FIGURE_RELATIVE_TIME,  // printed after a fixed time: how long the standard work would have taken
    FIGURE_ITERATIONS,     // printed after a fixed time
    FIGURE_MEMORY_OPS,     // printed: operations for each second of CPU time
    FIGURE_REQUESTS,       // printed: requests a second
    FIGURE_IDLE,           // printed: MiB that stay resident; the run itself sleeps
};

enum {
    SUITE_WORDS_MOST = 16
};

struct suite_workload {
    enum suite_id suite;
    const char *name;
    size_t thread_count;
    enum suite_figure figure;
    bool is_script;       // words[0] is then the script
    const char *program;  // that must be there
    const char *words[SUITE_WORDS_MOST];
};

// The rows of all suites, in the order of the table.
extern const struct suite_workload suite_workloads[];
extern const size_t suite_workload_count;

// "mimalloc-bench"
const char *suite_name(enum suite_id suite);

// True when `text` names a suite.
bool suite_find(const char *text, enum suite_id *suite);

// How to read the figure of a run.
void suite_figure_read(enum suite_figure figure, struct experiment_measure *measure);

// True when a run lasts as long with any allocator, so that what it cost says nothing by itself.
bool suite_figure_has_fixed_time(enum suite_figure figure);

// What to start: words ended by NULL, whose first is the program or the shell.  `folder` is where
// mimalloc-bench was built, or NULL.
struct suite_program {
    char path[PATH_MAX];  // of the program
    char *words[SUITE_WORDS_MOST + 2];
};

// Returns false, with the reason as the end of a sentence, when the program is not there or nothing
// can be preloaded into it.
bool suite_program_find(const struct suite_workload *workload, const char *folder,
                        struct suite_program *program, char reason[PATH_MAX]);

#endif
