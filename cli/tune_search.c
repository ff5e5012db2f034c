// Which candidate is worth confirming.
// SPDX-License-Identifier: MIT
//
// Sequential halving: every candidate runs a little, the better half runs on, and so on, so that most
// runs go to those between which it is hard to choose.  The choice may be wrong by chance, and its
// figures flatter the winner; that is why tune_confirm asks fresh runs.
#include "tune_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// While the stages run, side i + 1 is candidate i: whoever is dropped changes places in both with
// the last one that is left.
struct stages {
    struct tune_report *report;
    struct experiment experiment;
    size_t count;  // of candidates that are left
};

// Against the defaults, which are side 0.
static void measure_gain(const struct experiment *experiment, size_t side, uint64_t seed,
                         struct abtest_interval *interval)
{
    double gains[ABTEST_PAIRS_MOST];
    const struct abtest_settings settings = {
        .error_rate = ABTEST_ERROR_RATE, .resamples = ABTEST_RESAMPLES, .seed = seed};
    abtest_gains(experiment->sides[0].figures, experiment->sides[side].figures,
                 experiment->round_count, experiment->measure->lower_is_better, gains);
    abtest_interval(gains, experiment->round_count, &settings, interval);
}

static void measure_all(struct stages *stages)
{
    for (size_t i = 0; i < stages->count; i++) {
        struct tune_candidate *candidate = &stages->report->candidates.list[i];
        candidate->round_count = stages->experiment.round_count;
        measure_gain(&stages->experiment, i + 1, stages->report->options->common.seed,
                     &candidate->interval);
    }
}

static void swap(void *left, void *right, void *room, size_t bytes)
{
    memcpy(room, left, bytes);
    memcpy(left, right, bytes);
    memcpy(right, room, bytes);
}

// A candidate's label moves with it, so its side must be told where it is now.
static void drop(struct stages *stages, size_t index)
{
    static struct experiment_side side_room;
    struct tune_candidate candidate_room;
    struct tune_candidate *list = stages->report->candidates.list;
    struct experiment_side *sides = stages->experiment.sides;
    size_t last = --stages->count;
    stages->experiment.side_count--;
    if (index == last) {
        return;
    }
    swap(&list[index], &list[last], &candidate_room, sizeof candidate_room);
    swap(&sides[index + 1], &sides[last + 1], &side_room, sizeof side_room);
    sides[index + 1].name = list[index].label;
    sides[last + 1].name = list[last].label;
}

static size_t find_worst(const struct stages *stages)
{
    const struct tune_candidate *list = stages->report->candidates.list;
    size_t worst = 0;
    for (size_t i = 1; i < stages->count; i++) {
        if (list[i].interval.ratio < list[worst].interval.ratio) {
            worst = i;
        }
    }
    return worst;
}

// True when a candidate left sets the same gate as this one, and does it better.
static bool has_better_rival(const struct stages *stages, size_t index)
{
    const struct tune_candidate *list = stages->report->candidates.list;
    for (size_t i = 0; i < stages->count; i++) {
        bool is_better = list[i].interval.ratio > list[index].interval.ratio ||
                         (list[i].interval.ratio == list[index].interval.ratio && i < index);
        if (i != index && is_better && strcmp(list[i].gate, list[index].gate) == 0) {
            return true;
        }
    }
    return false;
}

// One that can't be combined with a better one.  The count when there is none.
static size_t find_beaten(const struct stages *stages)
{
    size_t index = 0;
    while (index < stages->count && !has_better_rival(stages, index)) {
        index++;
    }
    return index;
}

static int compare_gains(const void *left, const void *right)
{
    double left_ratio = ((const struct tune_candidate *)left)->interval.ratio;
    double right_ratio = ((const struct tune_candidate *)right)->interval.ratio;
    return (left_ratio < right_ratio) - (left_ratio > right_ratio);
}

static bool run_stage(struct stages *stages)
{
    struct tune_report *report = stages->report;
    size_t rounds = stages->experiment.round_count + report->plan.stage_rounds;
    report->progress.round_count = rounds;
    if (!experiment_run_rounds(&stages->experiment, rounds)) {
        return false;
    }
    measure_all(stages);
    return true;
}

static bool run_stages(struct stages *stages)
{
    char stage[64];
    stages->report->progress.stage = stage;
    bool is_last = false;
    while (!is_last) {
        is_last = stages->count <= TUNE_FINALISTS;
        (void)snprintf(stage, sizeof stage, "%zu settings, ", stages->count);
        if (!run_stage(stages)) {
            return false;
        }
        size_t next = is_last ? stages->count : tune_plan_next(stages->count);
        while (stages->count > next) {
            size_t beaten = next == TUNE_FINALISTS ? find_beaten(stages) : stages->count;
            drop(stages, beaten < stages->count ? beaten : find_worst(stages));
        }
    }
    for (size_t beaten = find_beaten(stages); beaten < stages->count;
         beaten = find_beaten(stages)) {
        drop(stages, beaten);
    }
    return true;
}

// The more that is tried, the more seems to help: all candidates are one family, those that were
// dropped early with what they had shown by then.
static void correct(struct tune_candidates *candidates)
{
    double p[TUNE_CANDIDATES_MOST];
    double error_rates[TUNE_CANDIDATES_MOST];
    for (size_t i = 0; i < candidates->count; i++) {
        p[i] = candidates->list[i].interval.p;
    }
    abtest_holm(p, candidates->count, ABTEST_ERROR_RATE, error_rates);
    for (size_t i = 0; i < candidates->count; i++) {
        candidates->list[i].is_shown = p[i] <= error_rates[i];
    }
}

static bool try_candidates(struct tune_report *report, struct experiment_side *sides)
{
    struct tune_candidates *candidates = &report->candidates;
    struct stages stages = {
        .report = report,
        .experiment = tune_experiment(report, sides, candidates->count + 1),
        .count = candidates->count,
    };
    bool is_good = run_stages(&stages);
    tune_account(report, &stages.experiment);
    report->finalist_count = stages.count;
    qsort(candidates->list, stages.count, sizeof candidates->list[0], compare_gains);
    qsort(candidates->list + stages.count, candidates->count - stages.count,
          sizeof candidates->list[0], compare_gains);
    correct(candidates);
    return is_good;
}

static bool is_worthwhile(const struct tune_candidate *candidate)
{
    return candidate->interval.ratio >= 1 + ABTEST_WORTHWHILE;
}

// The best alone; with each of the others that seem to help; with all of them.
static void combine(struct tune_report *report)
{
    struct tune_candidates *combined = &report->combined;
    const struct tune_candidate *finalists = report->candidates.list;
    combined->count = 0;
    combined->list[combined->count++] = finalists[0];
    for (size_t i = 1; i < report->finalist_count && is_worthwhile(&finalists[i]); i++) {
        combined->count +=
            tune_candidates_join(&finalists[0], &finalists[i], &combined->list[combined->count]);
    }
    if (combined->count == TUNE_FINALISTS) {
        combined->count += tune_candidates_join(&combined->list[1], &finalists[2],
                                                &combined->list[combined->count]);
    }
}

// True when a side is better than another by what is worth a change, and in nearly every round: the
// signed-rank test is not led astray by the one round in which the system had no huge pages left.
static bool is_better(const struct experiment *experiment, size_t side, size_t against)
{
    double gains[ABTEST_PAIRS_MOST];
    struct abtest_summary summary;
    abtest_gains(experiment->sides[against].figures, experiment->sides[side].figures,
                 experiment->round_count, experiment->measure->lower_is_better, gains);
    abtest_summarize(gains, experiment->round_count, &summary);
    return summary.median >= log(1 + ABTEST_WORTHWHILE) &&
           abtest_signed_rank(gains, experiment->round_count) <= ABTEST_ERROR_RATE;
}

// More settings must earn their place.
static void choose(struct tune_report *report, const struct experiment *experiment)
{
    const struct tune_candidates *combined = &report->combined;
    size_t best = 0;
    for (size_t i = 1; i < combined->count; i++) {
        if (is_better(experiment, i + 1, best + 1)) {
            best = i;
        }
    }
    report->winner = combined->list[best];
}

static bool try_combined(struct tune_report *report)
{
    struct tune_candidates *combined = &report->combined;
    struct experiment_side *sides = tune_sides_make(report, combined->list, combined->count);
    if (sides == NULL) {
        return false;
    }
    struct experiment experiment = tune_experiment(report, sides, combined->count + 1);
    report->progress.stage = "combined, ";
    report->progress.round_count = report->plan.combining_rounds;
    bool is_good = experiment_run_rounds(&experiment, report->plan.combining_rounds);
    for (size_t i = 0; is_good && i < combined->count; i++) {
        combined->list[i].round_count = experiment.round_count;
        measure_gain(&experiment, i + 1, report->options->common.seed, &combined->list[i].interval);
    }
    if (is_good) {
        choose(report, &experiment);
    }
    tune_account(report, &experiment);
    tune_sides_drop(sides, combined->count);
    return is_good;
}

bool tune_search(struct tune_report *report)
{
    size_t count = report->candidates.count;
    struct experiment_side *sides = tune_sides_make(report, report->candidates.list, count);
    bool is_good = sides != NULL && try_candidates(report, sides);
    tune_sides_drop(sides, count);
    if (!is_good || !is_worthwhile(&report->candidates.list[0])) {
        return is_good;
    }
    combine(report);
    report->winner = report->combined.list[0];
    return report->combined.count == 1 || try_combined(report);
}
