// The result of a comparison of allocators as one JSON document.
// SPDX-License-Identifier: MIT
#include "ab_report.h"
#include "compare_report.h"
#include "table_options.h"

#include <math.h>

#include <jansson.h>

// JSON has no infinity: an interval that isn't known is null.
static json_t *make_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *make_runs(const struct experiment_side *side, size_t round_count)
{
    json_t *runs = json_array();
    for (size_t round = 0; round < round_count; round++) {
        const struct experiment_cost *cost = &side->costs[round];
        (void)json_array_append_new(runs, json_pack("{sf sf sf sI}", "wall_seconds",
                                                    cost->wall_seconds, "cpu_seconds",
                                                    cost->cpu_seconds, "peak_mib", cost->peak_mib,
                                                    "faults", (json_int_t)cost->fault_count));
    }
    return runs;
}

static json_t *make_sides(const struct compare_report *report)
{
    json_t *sides = json_array();
    for (size_t side = 0; side <= report->allocators.count; side++) {
        bool is_again = side == report->allocators.count;
        const struct compare_allocator *allocator = &report->allocators.list[is_again ? 0 : side];
        (void)json_array_append_new(
            sides, json_pack("{ss ss sb so}", "allocator", allocator->name, "object",
                             allocator->object, "is_control", is_again, "runs",
                             make_runs(&report->sides[side], report->round_count)));
    }
    return sides;
}

static json_t *make_comparison(const struct compare_report *report, size_t measure, size_t side)
{
    const struct compare_cell *cell = &report->cells[measure][side];
    const struct abtest_interval *interval = &cell->result.interval;
    return json_pack(
        "{ss ss ss ss sf sf sf so so sf sf sb ss}", "measure", report->measures[measure].name,
        "unit", report->measures[measure].unit, "allocator", report->allocators.list[side].name,
        "against", report->allocators.list[0].name, "mean", cell->result.b.mean, "median",
        cell->result.b.median, "ratio", interval->ratio, "low", make_number(interval->low), "high",
        make_number(interval->high), "level", 1 - interval->error_rate, "p", interval->p,
        "control_is_clean", cell->result.is_control_clean, "finding", compare_words(cell->finding));
}

int compare_json_print(const struct compare_report *report)
{
    json_t *program = json_array();
    json_t *comparisons = json_array();
    for (char **word = report->words; *word != NULL; word++) {
        (void)json_array_append_new(program, json_string(*word));
    }
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        for (size_t side = 1; side < report->allocators.count; side++) {
            (void)json_array_append_new(comparisons, make_comparison(report, measure, side));
        }
    }
    json_t *core = report->core == RUN_CORE_ANY ? json_null() : json_integer(report->core);
    return table_print_json(json_pack(
        "{so ss ss so sI sI sI so so ss}", "program", program, "version", report->version,
        "machine", report->machine, "core", core, "seed", (json_int_t)report->options->common.seed,
        "rounds", (json_int_t)report->round_count, "runs", (json_int_t)report->run_count, "sides",
        make_sides(report), "comparisons", comparisons, "proof", compare_proof()));
}
