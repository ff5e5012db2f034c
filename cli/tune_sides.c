// The sides of a tuning, and experiments with them.
// SPDX-License-Identifier: MIT
#include "talk.h"
#include "tune_report.h"

#include <stdlib.h>

static bool make_environments(const struct tune_report *report,
                              const struct tune_candidate *candidates, size_t count,
                              struct experiment_side *sides)
{
    char **environments[ABTEST_SIDES_MOST];
    for (size_t i = 0; i <= count; i++) {
        const struct tune_candidate *candidate = i > 0 ? &candidates[i - 1] : NULL;
        environments[i] =
            candidate == NULL
                ? experiment_settings_make(&report->foundation, NULL, NULL, 0)
                : experiment_settings_make(&report->foundation, NULL, candidate->settings,
                                           candidate->setting_count);
        if (environments[i] == NULL) {
            return false;
        }
    }
    if (!experiment_environment_pad(environments, count + 1)) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    for (size_t i = 0; i <= count; i++) {
        sides[i].name = i > 0 ? candidates[i - 1].label : "defaults";
        sides[i].environment = environments[i];
        sides[i].must_run_hakmem = true;
    }
    return true;
}

struct experiment_side *tune_sides_make(const struct tune_report *report,
                                        const struct tune_candidate *candidates, size_t count)
{
    struct experiment_side *sides = calloc(count + 1, sizeof *sides);
    if (sides == NULL) {
        talk_say("Memory is out.");
        return NULL;
    }
    if (!make_environments(report, candidates, count, sides)) {
        free(sides);
        return NULL;
    }
    return sides;
}

void tune_sides_drop(struct experiment_side *sides, size_t count)
{
    for (size_t i = 0; sides != NULL && i <= count; i++) {
        experiment_environment_drop(sides[i].environment);
    }
    free(sides);
}

struct experiment tune_experiment(struct tune_report *report, struct experiment_side *sides,
                                  size_t side_count)
{
    return (struct experiment){
        .words = report->words,
        .measure = report->measure,
        .proof = report->proof,
        .core = report->core,
        .seed = report->options->common.seed + report->run_count,  // another order in each
        .sides = sides,
        .side_count = side_count,
        .progress = experiment_progress_show,
        .context = &report->progress,
    };
}

void tune_account(struct tune_report *report, const struct experiment *experiment)
{
    report->run_count += experiment->run_count;
    report->progress.runs_before += experiment->run_count;
    if (experiment->thread_count > report->thread_count) {
        report->thread_count = experiment->thread_count;
    }
}
