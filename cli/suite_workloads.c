// SPDX-License-Identifier: MIT
#include "suite_workloads.h"

#include "near_file.h"
#include "program_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RUN(suite_word, row_name, threads, figure_word, program_name, ...)                         \
    {.suite = SUITE_##suite_word,                                                                  \
     .name = (row_name),                                                                           \
     .thread_count = (threads),                                                                    \
     .figure = FIGURE_##figure_word,                                                               \
     .program = (program_name),                                                                    \
     .words = {__VA_ARGS__}},
#define SCRIPT(suite_word, row_name, threads, figure_word, program_name, text)                     \
    {.suite = SUITE_##suite_word,                                                                  \
     .name = (row_name),                                                                           \
     .thread_count = (threads),                                                                    \
     .figure = FIGURE_##figure_word,                                                               \
     .is_script = true,                                                                            \
     .program = (program_name),                                                                    \
     .words = {text}},

const struct suite_workload suite_workloads[] = {
#include "suite_rows.def"
};

#undef RUN
#undef SCRIPT

const size_t suite_workload_count = sizeof suite_workloads / sizeof suite_workloads[0];

static const char *const suite_names[SUITE_COUNT] = {
    [SUITE_DEFAULT] = "default",   [SUITE_SCALING] = "scaling",
    [SUITE_IDLE] = "idle",         [SUITE_SMALL] = "small",
    [SUITE_PROGRAMS] = "programs", [SUITE_MIMALLOC_BENCH] = "mimalloc-bench",
};

static const struct {
    const char *measure;
    const char *unit;  // NULL: the measure's own
    bool lower_is_better;
    bool has_fixed_time;
} figures[] = {
    [FIGURE_TIME] = {"time", NULL, true, false},
    [FIGURE_RATE] = {"throughput", NULL, false, false},
    [FIGURE_US_EACH] = {"us=: ([0-9.]+) us/", "us", true, false},
    [FIGURE_RELATIVE_TIME] = {"time=time: ([0-9.]+)", "s", true, true},
    [FIGURE_ITERATIONS] = {"iterations=([0-9]+) iterations", "", false, true},
    [FIGURE_MEMORY_OPS] = {"operations=([0-9]+) memory ops", "", false, false},
    [FIGURE_REQUESTS] = {"requests=: ([0-9.]+) requests per second", "", false, false},
    [FIGURE_IDLE] = {"idle=: ([0-9.]+) MiB idle", "MiB", true, false},
};

const char *suite_name(enum suite_id suite)
{
    return suite_names[suite];
}

bool suite_find(const char *text, enum suite_id *suite)
{
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        if (strcmp(suite_names[i], text) == 0) {
            *suite = (enum suite_id)i;
            return true;
        }
    }
    return false;
}

void suite_figure_read(enum suite_figure figure, struct experiment_measure *measure)
{
    (void)experiment_measure_read(measure, figures[figure].measure);
    measure->lower_is_better = figures[figure].lower_is_better;
    if (figures[figure].unit != NULL) {
        measure->unit = figures[figure].unit;
    }
}

bool suite_figure_has_fixed_time(enum suite_figure figure)
{
    return figures[figure].has_fixed_time;
}

static bool find_file(const struct suite_workload *workload, const char *folder,
                      char path[PATH_MAX])
{
    switch (workload->suite) {
    case SUITE_DEFAULT:
    case SUITE_SCALING:
    case SUITE_IDLE:
        return near_file_find("bench", workload->program, path);
    case SUITE_MIMALLOC_BENCH:
        return folder != NULL &&
               snprintf(path, PATH_MAX, "%s/%s", folder, workload->program) < PATH_MAX &&
               access(path, X_OK) == 0;
    default:
        return program_file_find(workload->program, path);
    }
}

static void fill_words(const struct suite_workload *workload, struct suite_program *program)
{
    static char shell[] = "sh";
    static char command[] = "-c";
    size_t count = 0;
    program->words[count++] = workload->is_script ? shell : program->path;
    if (workload->is_script) {
        program->words[count++] = command;
    }
    for (size_t i = 0; i < SUITE_WORDS_MOST && workload->words[i] != NULL; i++) {
        // exec takes them without const, and writes none of them.
        memcpy(&program->words[count++], &workload->words[i], sizeof program->words[0]);
    }
    program->words[count] = NULL;
}

bool suite_program_find(const struct suite_workload *workload, const char *folder,
                        struct suite_program *program, char reason[PATH_MAX])
{
    struct program_file file;
    if (!find_file(workload, folder, program->path)) {
        (void)snprintf(reason, PATH_MAX, "%s is not there", workload->program);
        return false;
    }
    if (program_file_resolve(program->path, &file) == 0 && program_file_obstacle(&file) != NULL) {
        (void)snprintf(reason, PATH_MAX, "%s runs without hakmem: %s", workload->program,
                       program_file_obstacle(&file));
        return false;
    }
    fill_words(workload, program);
    return true;
}
