// SPDX-License-Identifier: MIT
#include "experiment.h"

#include "talk.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

enum {
    LINE_BYTES = 256
};

static bool explain_failure(const struct experiment *experiment, const struct experiment_side *side,
                            const struct experiment_run *run)
{
    char line[LINE_BYTES];
    const char *program = experiment->words[0];
    experiment_run_last_line(run, line, sizeof line);
    const char *lead = line[0] != '\0' ? " Its last words: " : "";
    if (run->start_error == ENOENT) {
        talk_say("%s was not found.", program);
    } else if (run->start_error != 0) {
        talk_say("%s could not be started: %s.", program, strerror(run->start_error));
    } else if (WIFSIGNALED(run->wait_status)) {
        int signal_number = WTERMSIG(run->wait_status);
        talk_say("A run of side %s was ended by signal %d (%s); a failed run has no figure.%s%s",
                 side->name, signal_number, strsignal(signal_number), lead, line);
    } else {
        talk_say("A run of side %s ended with status %d; a failed run has no figure.%s%s",
                 side->name, WEXITSTATUS(run->wait_status), lead, line);
    }
    return false;
}

static bool explain_unusable_figure(const struct experiment *experiment, double figure)
{
    if (experiment_measure_needs_output(experiment->measure)) {
        talk_say("%s printed %g as its %s; a figure must be finite and above 0 to be compared.",
                 experiment->words[0], figure, experiment->measure->name);
    } else {
        talk_say("%s ran too short a time for its %s to be measured. Give it more to do.",
                 experiment->words[0], experiment->measure->name);
    }
    return false;
}

static bool explain_missing_figure(const struct experiment *experiment,
                                   const struct experiment_run *run)
{
    char line[LINE_BYTES];
    experiment_run_last_line(run, line, sizeof line);
    talk_say("%s printed no %s. Measure its time (--measure time), or say what to look for "
             "(--measure NAME=regex).%s%s",
             experiment->words[0],
             experiment->measure->kind == MEASURE_THROUGHPUT ? "throughput such as 5.1 M ops/s"
                                                             : experiment->measure->name,
             line[0] != '\0' ? " Its last words: " : "", line);
    return false;
}

static bool explain_missing_figures(const struct experiment *experiment)
{
    talk_say("%s left no figures of a heap, so nothing shows that it ran on hakmem: it left by "
             "_exit, or does not run on hakmem. `hakmem doctor -- %s` tells which.",
             experiment->words[0], experiment->words[0]);
    return false;
}

static void explain_other_allocator(const struct experiment *experiment,
                                    const struct experiment_side *side, const char *other)
{
    char advice[2 * PATH_MAX] = "build it without";
    if (strstr(other, ".so") != NULL) {
        (void)snprintf(advice, sizeof advice, "compare with that: --allocators own=%s,hakmem",
                       other);
    }
    talk_say("A run of %s was meant for %s (%s), but a process of it took its malloc from %s. If "
             "it brings its own allocator, %s.",
             experiment->words[0], side->name, side->object, other, advice);
}

static bool take_testimony(const struct experiment *experiment, const struct experiment_side *side)
{
    char other[PATH_MAX];
    switch (experiment_witness_read(experiment->witness, side->object, other)) {
    case WITNESS_SILENT:
        talk_say("No process of %s said at its end where its malloc is, so nothing shows that it "
                 "ran on %s: it left by _exit, or was started without the preload.",
                 experiment->words[0], side->name);
        return false;
    case WITNESS_OTHER:
        explain_other_allocator(experiment, side, other);
        return false;
    case WITNESS_PROVEN:
        break;
    }
    return true;
}

// Also counts threads, of any side that tells them.
static bool take_proof(struct experiment *experiment, const struct experiment_side *side,
                       const struct experiment_run *run)
{
    size_t thread_count = 0;
    bool has_figures = experiment_proof_read(experiment->proof, run->pid, &thread_count);
    if (thread_count > experiment->thread_count) {
        experiment->thread_count = thread_count;
    }
    if (side->must_run_hakmem && !has_figures) {
        return explain_missing_figures(experiment);
    }
    return side->object == NULL || take_testimony(experiment, side);
}

static bool take_figure(const struct experiment *experiment, const struct experiment_run *run,
                        double *figure)
{
    switch (experiment_measure_take(experiment->measure, run, figure)) {
    case MEASURE_MISSING:
        return explain_missing_figure(experiment, run);
    case MEASURE_UNUSABLE:
        return explain_unusable_figure(experiment, *figure);
    case MEASURE_TAKEN:
        break;
    }
    return true;
}

// One run: its figure and what it cost.
static bool measure(struct experiment *experiment, const struct experiment_side *side,
                    double *figure, struct experiment_cost *cost)
{
    struct experiment_run run;
    const struct experiment_launch launch = {
        .words = experiment->words,
        .environment = side->environment,
        .folder = experiment->folder,
        .core = experiment->core,
        .keeps_output = experiment_measure_needs_output(experiment->measure),
    };
    experiment_proof_clear(experiment->proof);
    if (side->object != NULL) {
        experiment_witness_clear(experiment->witness);
    }
    bool is_good = experiment_run_start(&launch, &run);
    if (is_good && (run.start_error != 0 || run.wait_status != 0)) {
        is_good = explain_failure(experiment, side, &run);
    }
    is_good = is_good && take_proof(experiment, side, &run);
    is_good = is_good && take_figure(experiment, &run, figure);
    *cost = run.cost;
    experiment_run_drop(&run);
    if (!is_good) {
        experiment->failed_side = (size_t)(side - experiment->sides);
    }
    return is_good;
}

bool experiment_warm_up(struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->side_count; i++) {
        double figure = 0;
        struct experiment_cost cost;
        if (!measure(experiment, &experiment->sides[i], &figure, &cost)) {
            return false;
        }
    }
    return true;
}

static bool run_round(struct experiment *experiment)
{
    size_t order[ABTEST_SIDES_MOST];
    size_t round = experiment->round_count;
    abtest_order(experiment->seed, round, order, experiment->side_count);
    for (size_t i = 0; i < experiment->side_count; i++) {
        struct experiment_side *side = &experiment->sides[order[i]];
        if (!measure(experiment, side, &side->figures[round], &side->costs[round])) {
            return false;
        }
        experiment->run_count++;
        experiment->round_count = round + (i + 1 == experiment->side_count);
        if (experiment->progress != NULL) {
            experiment->progress(experiment, experiment->context);
        }
    }
    return true;
}

bool experiment_run_rounds(struct experiment *experiment, size_t round_count)
{
    while (experiment->round_count < round_count) {
        if (!run_round(experiment)) {
            return false;
        }
    }
    return true;
}

void experiment_say_shared_core(const char *program, int core, size_t thread_count)
{
    if (core != RUN_CORE_ANY && thread_count > 1) {
        talk_say("%s has several threads, and they shared core %d. --no-pin lets them use all.",
                 program, core);
    }
}

int experiment_choose_core(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
        return 0;
    }
    int core = CPU_SETSIZE - 1;
    while (core > 0 && !CPU_ISSET((size_t)core, &cores)) {
        core--;
    }
    return core;
}

bool experiment_has_core(int core)
{
    cpu_set_t cores;
    return core >= 0 && core < CPU_SETSIZE && sched_getaffinity(0, sizeof cores, &cores) == 0 &&
           CPU_ISSET((size_t)core, &cores);
}
