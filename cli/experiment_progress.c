// SPDX-License-Identifier: MIT
#include "experiment_progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void experiment_progress_start(struct experiment_progress *progress, bool is_wanted)
{
    progress->is_terminal = isatty(STDERR_FILENO);
    progress->is_shown = is_wanted || progress->is_terminal;
    progress->start_seconds = now_seconds();
}

// The mean is enough here; the verdict's centre comes at the end.
static double ratio_so_far(const struct experiment *experiment, size_t side)
{
    double gains[ABTEST_PAIRS_MOST];
    struct abtest_summary summary;
    abtest_gains(experiment->sides[0].figures, experiment->sides[side].figures,
                 experiment->round_count, experiment->measure->lower_is_better, gains);
    abtest_summarize(gains, experiment->round_count, &summary);
    return exp(summary.mean);
}

static double seconds_left(const struct experiment *experiment,
                           const struct experiment_progress *progress)
{
    size_t done_count = progress->runs_before + experiment->run_count;
    double spent_seconds = now_seconds() - progress->start_seconds;
    return spent_seconds / (double)done_count * (double)(progress->run_count - done_count);
}

void experiment_progress_show(const struct experiment *experiment, void *context)
{
    const struct experiment_progress *progress = context;
    bool is_round_whole = experiment->run_count % experiment->side_count == 0;
    if (!progress->is_shown || (!progress->is_terminal && !is_round_whole)) {
        return;
    }
    (void)fputs(progress->is_terminal ? "\r\033[K" : "", stderr);
    (void)fprintf(stderr, "%sround %zu of %zu", progress->stage, experiment->round_count,
                  progress->round_count);
    if (experiment->round_count > 0 && progress->ratio_side > 0) {
        (void)fprintf(stderr, ", %s/%s %.4f so far", experiment->sides[progress->ratio_side].name,
                      experiment->sides[0].name, ratio_so_far(experiment, progress->ratio_side));
    }
    (void)fprintf(stderr, ", %.0f s left at most", seconds_left(experiment, progress));
    (void)fputs(progress->is_terminal ? "" : "\n", stderr);
    (void)fflush(stderr);
}

void experiment_progress_end(const struct experiment_progress *progress)
{
    if (progress->is_shown && progress->is_terminal) {
        (void)fputs("\r\033[K", stderr);
    }
}
