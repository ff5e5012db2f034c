// The result of an A/B as one JSON document.
// SPDX-License-Identifier: MIT
#include "ab_report.h"
#include "table_options.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

// JSON has no infinity: an interval that isn't known is null.
static json_t *make_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *make_settings(char *const *environment)
{
    json_t *settings = json_object();
    for (; *environment != NULL; environment++) {
        if (experiment_environment_is_setting(*environment)) {
            char name[80];
            size_t length = strcspn(*environment, "=");
            (void)snprintf(name, sizeof name, "%.*s", (int)length, *environment);
            (void)json_object_set_new(settings, name, json_string(*environment + length + 1));
        }
    }
    return settings;
}

static json_t *make_runs(const struct experiment_side *side, size_t round_count)
{
    json_t *runs = json_array();
    for (size_t round = 0; round < round_count; round++) {
        const struct experiment_cost *cost = &side->costs[round];
        (void)json_array_append_new(
            runs, json_pack("{sf sf sf sf sI}", "figure", side->figures[round], "wall_seconds",
                            cost->wall_seconds, "cpu_seconds", cost->cpu_seconds, "peak_mib",
                            cost->peak_mib, "faults", (json_int_t)cost->fault_count));
    }
    return runs;
}

static json_t *make_side(const struct experiment_side *side, const struct abtest_summary *summary,
                         size_t round_count)
{
    return json_pack("{so si sf sf sf sf so}", "settings", make_settings(side->environment), "n",
                     (int)summary->count, "mean", summary->mean, "median", summary->median, "sd",
                     summary->sd, "cv", summary->cv, "runs", make_runs(side, round_count));
}

static json_t *make_interval(const struct abtest_interval *interval)
{
    return json_pack("{sf so so sf sf}", "ratio", interval->ratio, "low",
                     make_number(interval->low), "high", make_number(interval->high), "level",
                     1 - interval->error_rate, "p", interval->p);
}

static json_t *make_comparison(const struct ab_comparison *comparison)
{
    char sentence[AB_SENTENCE_BYTES];
    const struct abtest_result *result = &comparison->result;
    const struct experiment_side *sides = comparison->sides;
    size_t round_count = comparison->round_count;
    ab_words_conclude(comparison, sentence);
    json_t *object =
        json_pack("{so so so so so}", "a", make_side(&sides[AB_SIDE_A], &result->a, round_count),
                  "b", make_side(&sides[AB_SIDE_B], &result->b, round_count), "a_again",
                  make_side(&sides[AB_SIDE_CONTROL], &result->a_again, round_count), "b_against_a",
                  make_interval(&result->interval), "control", make_interval(&result->control));
    json_t *verdict =
        json_pack("{sf sf sf so sb ss ss ss sI ss}", "mean_gain", result->mean_gain, "median_gain",
                  result->median_gain, "signed_rank_p", result->p_signed_rank, "noise_floor",
                  make_number(result->noise_floor), "control_is_clean", result->is_control_clean,
                  "memo_rule", ab_words_memo(result->memo), "evidence",
                  ab_words_evidence(result->evidence), "verdict", ab_words_verdict(result->verdict),
                  "rounds_needed", (json_int_t)result->pairs_needed, "sentence", sentence);
    (void)json_object_update(object, verdict);
    json_decref(verdict);
    return object;
}

int ab_json_print(const struct ab_report *report)
{
    json_t *program = json_array();
    json_t *comparisons = json_array();
    for (char **word = report->words; *word != NULL; word++) {
        (void)json_array_append_new(program, json_string(*word));
    }
    for (size_t i = 0; i < report->comparison_count; i++) {
        (void)json_array_append_new(comparisons, make_comparison(&report->comparisons[i]));
    }
    json_t *core = report->core == RUN_CORE_ANY ? json_null() : json_integer(report->core);
    return table_print_json(
        json_pack("{so ss ss sb ss ss so sI sI so}", "program", program, "measure",
                  report->measure->name, "unit", report->measure->unit, "lower_is_better",
                  report->measure->lower_is_better, "version", report->version, "machine",
                  report->machine, "core", core, "seed", (json_int_t)report->options->common.seed,
                  "runs", (json_int_t)report->run_count, "comparisons", comparisons));
}
