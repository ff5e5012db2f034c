// SPDX-License-Identifier: MIT
#include "suite_latency.h"

#include "abtest/abtest.h"
#include "experiment_environment.h"
#include "experiment_run.h"
#include "near_file.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN_COUNT = 3,
    FIGURE_COUNT = LATENCY_CALL_COUNT * LATENCY_RANK_COUNT,
};

static const char library_name[] = "allocator_latency.so";
static const char path_env[] = "AB_LATENCY";

bool suite_latency_open(struct suite_latency_probe *probe)
{
    if (!near_file_find("cli", library_name, probe->library) ||
        strpbrk(probe->library, ": ") != NULL) {
        talk_say("%s was not found near this command, or its path has a space or a colon in it. "
                 "Build or install hakmem whole.",
                 library_name);
        return false;
    }
    return experiment_proof_open(&probe->file);
}

static char **make_environment(const struct suite_latency_probe *probe, const char *object)
{
    char list[2 * PATH_MAX];
    char **environment = NULL;
    (void)snprintf(list, sizeof list, "%s%s%s", probe->library, object != NULL ? ":" : "",
                   object != NULL ? object : "");
    if (setenv("LD_PRELOAD", list, 1) == 0 && setenv(path_env, probe->file.path, 1) == 0) {
        environment = experiment_environment_copy();
    }
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv(path_env);
    return environment;
}

// Two lines, of malloc and of free; a program that made no such call has none.
static bool read_report(const struct suite_latency_probe *probe,
                        double ns[LATENCY_CALL_COUNT][LATENCY_RANK_COUNT])
{
    static const char *const formats[LATENCY_CALL_COUNT] = {"malloc %lf %lf %lf %lf %lf\n",
                                                            "free %lf %lf %lf %lf %lf\n"};
    FILE *in = fopen(probe->file.path, "re");
    bool is_read = in != NULL;
    for (size_t call = 0; is_read && call < LATENCY_CALL_COUNT; call++) {
        double count = 0;
        double *ranks = ns[call];
        is_read = fscanf(in, formats[call], &count, &ranks[LATENCY_P50], &ranks[LATENCY_P99],
                         &ranks[LATENCY_P999], &ranks[LATENCY_MAX]) == 1 + LATENCY_RANK_COUNT &&
                  count > 0;
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return is_read;
}

static bool run_once(const struct suite_latency_probe *probe,
                     const struct experiment_launch *launch,
                     double ns[LATENCY_CALL_COUNT][LATENCY_RANK_COUNT])
{
    struct experiment_run run;
    experiment_proof_clear(&probe->file);
    if (!experiment_run_start(launch, &run)) {
        return false;
    }
    bool is_good = run.start_error == 0 && run.wait_status == 0 && read_report(probe, ns);
    experiment_run_drop(&run);
    return is_good;
}

void suite_latency_measure(const struct suite_latency_probe *probe, char **words, int core,
                           const char *object, struct suite_latency *latency)
{
    double runs[RUN_COUNT][LATENCY_CALL_COUNT][LATENCY_RANK_COUNT];
    char **environment = make_environment(probe, object);
    const struct experiment_launch launch = {
        .words = words, .environment = environment, .core = core};
    latency->is_there = environment != NULL;
    for (size_t i = 0; latency->is_there && i < RUN_COUNT; i++) {
        latency->is_there = run_once(probe, &launch, runs[i]);
    }
    for (size_t i = 0; latency->is_there && i < FIGURE_COUNT; i++) {
        size_t call = i / LATENCY_RANK_COUNT;
        size_t rank = i % LATENCY_RANK_COUNT;
        double values[RUN_COUNT];
        struct abtest_summary summary;
        for (size_t j = 0; j < RUN_COUNT; j++) {
            values[j] = runs[j][call][rank];
        }
        abtest_summarize(values, RUN_COUNT, &summary);
        latency->ns[call][rank] = summary.median;
    }
    experiment_environment_drop(environment);
}
