// The result of a tuning as one JSON document.
// SPDX-License-Identifier: MIT
#include "table_options.h"
#include "tune_report.h"

#include <math.h>

#include <jansson.h>

// JSON has no infinity: an interval that isn't known is null.
static json_t *make_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *make_interval(const struct abtest_interval *interval)
{
    return json_pack("{sf so so sf sf}", "ratio", interval->ratio, "low",
                     make_number(interval->low), "high", make_number(interval->high), "level",
                     1 - interval->error_rate, "p", interval->p);
}

static json_t *make_candidates(const struct tune_candidates *candidates, size_t first)
{
    json_t *array = json_array();
    for (size_t i = first; i < candidates->count; i++) {
        const struct tune_candidate *candidate = &candidates->list[i];
        (void)json_array_append_new(
            array, json_pack("{ss sI sb so}", "setting", candidate->label, "rounds",
                             (json_int_t)candidate->round_count, "shown", candidate->is_shown,
                             "against_defaults", make_interval(&candidate->interval)));
    }
    return array;
}

static json_t *make_confirmation(const struct tune_report *report)
{
    const struct ab_comparison *comparison = &report->confirmation;
    if (report->winner.gate == NULL) {
        return json_null();
    }
    return json_pack("{ss sI so so ss sf sf}", "setting", report->winner.label, "rounds",
                     (json_int_t)comparison->round_count, "against_defaults",
                     make_interval(&comparison->result.interval), "control",
                     make_interval(&comparison->result.control), "verdict",
                     ab_words_verdict(comparison->result.verdict), "peak_mib",
                     tune_peak_mib(report, AB_SIDE_B), "peak_mib_of_defaults",
                     tune_peak_mib(report, AB_SIDE_A));
}

int tune_json_print(const struct tune_report *report)
{
    json_t *program = json_array();
    for (char **word = report->words; *word != NULL; word++) {
        (void)json_array_append_new(program, json_string(*word));
    }
    json_t *core = report->core == RUN_CORE_ANY ? json_null() : json_integer(report->core);
    json_t *output = tune_has_result(report) ? json_string(report->options->output) : json_null();
    return table_print_json(json_pack(
        "{so ss ss ss so sI sI so so so so}", "program", program, "measure", report->measure->name,
        "version", report->version, "machine", report->machine, "core", core, "seed",
        (json_int_t)report->options->common.seed, "runs", (json_int_t)report->run_count,
        "candidates", make_candidates(&report->candidates, 0), "combined",
        make_candidates(&report->combined, 1), "confirmation", make_confirmation(report), "written",
        output));
}
