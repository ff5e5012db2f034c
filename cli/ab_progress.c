// SPDX-License-Identifier: MIT
#include "ab_progress.h"

#include "ab_report.h"

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

void ab_progress_start(struct ab_progress *progress, bool is_wanted)
{
    progress->is_terminal = isatty(STDERR_FILENO);
    progress->is_shown = is_wanted || progress->is_terminal;
    progress->start_seconds = now_seconds();
}

// The mean is enough here; the verdict's centre comes at the end.
static double ratio_so_far(const struct experiment *experiment)
{
    double gains[ABTEST_PAIRS_MOST];
    struct abtest_summary summary;
    abtest_gains(experiment->sides[AB_SIDE_A].figures, experiment->sides[AB_SIDE_B].figures,
                 experiment->round_count, experiment->measure->lower_is_better, gains);
    abtest_summarize(gains, experiment->round_count, &summary);
    return exp(summary.mean);
}

static double seconds_left(const struct experiment *experiment, const struct ab_progress *progress)
{
    size_t done_count = progress->runs_before + experiment->run_count;
    size_t all_count = progress->comparison_count * progress->round_count * experiment->side_count;
    double spent_seconds = now_seconds() - progress->start_seconds;
    return spent_seconds / (double)done_count * (double)(all_count - done_count);
}

void ab_progress_show(const struct experiment *experiment, void *context)
{
    const struct ab_progress *progress = context;
    bool is_round_whole = experiment->run_count % experiment->side_count == 0;
    if (!progress->is_shown || (!progress->is_terminal && !is_round_whole)) {
        return;
    }
    (void)fputs(progress->is_terminal ? "\r\033[K" : "", stderr);
    if (progress->comparison_count > 1) {
        (void)fprintf(stderr, "comparison %zu of %zu, ", progress->comparison_index + 1,
                      progress->comparison_count);
    }
    (void)fprintf(stderr, "round %zu of %zu", experiment->round_count, progress->round_count);
    if (experiment->round_count > 0) {
        (void)fprintf(stderr, ", B/A %.4f so far", ratio_so_far(experiment));
    }
    (void)fprintf(stderr, ", %.0f s left at most", seconds_left(experiment, progress));
    (void)fputs(progress->is_terminal ? "" : "\n", stderr);
    (void)fflush(stderr);
}

void ab_progress_end(const struct ab_progress *progress)
{
    if (progress->is_shown && progress->is_terminal) {
        (void)fputs("\r\033[K", stderr);
    }
}
