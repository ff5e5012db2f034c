// SPDX-License-Identifier: MIT
#include "suite_progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

double suite_progress_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void suite_progress_start(struct suite_progress *progress, bool is_wanted)
{
    *progress = (struct suite_progress){.is_terminal = isatty(STDERR_FILENO)};
    progress->is_shown = is_wanted || progress->is_terminal;
}

static const char *line_start(const struct suite_progress *progress)
{
    return progress->is_terminal ? "\r\033[K" : "";
}

static const char *line_end(const struct suite_progress *progress)
{
    return progress->is_terminal ? "" : "\n";
}

void suite_progress_step(const struct suite_progress *progress, const char *deed, const char *row,
                         size_t index, size_t count)
{
    if (progress->is_shown) {
        (void)fprintf(stderr, "%s%s %s, %zu of %zu%s", line_start(progress), deed, row, index,
                      count, line_end(progress));
        (void)fflush(stderr);
    }
}

static void show(const struct suite_progress *progress, size_t round)
{
    double spent_seconds = suite_progress_clock() - progress->start_seconds;
    (void)fprintf(stderr, "%s%s, round %zu of %zu, about %.0f s left%s", line_start(progress),
                  progress->row, round, progress->round_count,
                  fmax(progress->seconds_left - spent_seconds, 0), line_end(progress));
    (void)fflush(stderr);
}

void suite_progress_enter(struct suite_progress *progress, const char *row, size_t round_count)
{
    progress->row = row;
    progress->round_count = round_count;
    progress->start_seconds = suite_progress_clock();
    if (progress->is_shown) {
        show(progress, 0);
    }
}

void suite_progress_leave(struct suite_progress *progress, double expected_seconds)
{
    progress->seconds_left -= expected_seconds;
}

void suite_progress_show(const struct experiment *experiment, void *context)
{
    const struct suite_progress *progress = context;
    if (progress->is_shown && progress->is_terminal) {
        show(progress, experiment->round_count);
    }
}

void suite_progress_end(const struct suite_progress *progress)
{
    if (progress->is_shown && progress->is_terminal) {
        (void)fputs("\r\033[K", stderr);
    }
}
