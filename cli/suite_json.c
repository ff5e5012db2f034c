// The result of the suite as one JSON document.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "suite_report.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

// JSON has no infinity: an interval that isn't known is null.
static json_t *make_bound(double bound)
{
    return isfinite(bound) && bound > 0 ? json_real(bound) : json_null();
}

static json_t *make_ratio(const struct suite_ratio *ratio)
{
    if (ratio == NULL || ratio->row_count == 0) {
        return json_null();
    }
    return json_pack("{sf so so sI}", "ratio", ratio->ratio, "low", make_bound(ratio->low), "high",
                     make_bound(ratio->high), "rows", (json_int_t)ratio->row_count);
}

static json_t *make_allocators(const struct suite_report *report)
{
    json_t *allocators = json_array();
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct compare_allocator *allocator = &report->allocators.list[i];
        const struct suite_identity *identity = &report->identities[i];
        (void)json_array_append_new(
            allocators,
            json_pack("{ss ss ss sI ss sb}", "name", allocator->name, "object", allocator->object,
                      "version", identity->version, "bytes", (json_int_t)identity->file_bytes,
                      "sha256", identity->sha256, "is_peer", suite_is_peer(report, i)));
    }
    return allocators;
}

static json_t *make_runs(const struct suite_row *row, size_t side)
{
    json_t *runs = json_array();
    for (size_t round = 0; round < row->round_count; round++) {
        const struct experiment_cost *cost = &row->sides[side].costs[round];
        (void)json_array_append_new(runs, json_pack("{sf sf sf sf}", "figure",
                                                    row->sides[side].figures[round], "wall_seconds",
                                                    cost->wall_seconds, "cpu_seconds",
                                                    cost->cpu_seconds, "peak_mib", cost->peak_mib));
    }
    return runs;
}

static json_t *make_costs(const struct suite_row *row, size_t allocator)
{
    json_t *costs = json_object();
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        const struct suite_cell *cell = &row->cells[cost][allocator];
        if (cell->is_there) {
            (void)json_object_set_new(costs, suite_cost_words(cost),
                                      json_pack("{sf so}", "median", cell->median,
                                                "hakmem_over_this", make_ratio(&cell->ratio)));
        }
    }
    return costs;
}

static json_t *make_latency(const struct suite_latency *latency)
{
    static const char *const calls[LATENCY_CALL_COUNT] = {"malloc", "free"};
    static const char *const ranks[LATENCY_RANK_COUNT] = {"p50", "p99", "p99.9", "max"};
    json_t *document = latency->is_there ? json_object() : json_null();
    for (size_t call = 0; latency->is_there && call < LATENCY_CALL_COUNT; call++) {
        json_t *times = json_object();
        for (size_t rank = 0; rank < LATENCY_RANK_COUNT; rank++) {
            (void)json_object_set_new(times, ranks[rank], json_real(latency->ns[call][rank]));
        }
        (void)json_object_set_new(document, calls[call], times);
    }
    return document;
}

static json_t *make_sides(const struct suite_report *report, const struct suite_row *row)
{
    json_t *sides = json_array();
    for (size_t side = 0; side < row->side_count; side++) {
        size_t allocator = row->allocators[side];
        (void)json_array_append_new(
            sides,
            json_pack("{ss so so so}", "allocator", report->allocators.list[allocator].name,
                      "costs", make_costs(row, allocator), "latency_ns",
                      make_latency(&row->latencies[allocator]), "runs", make_runs(row, side)));
    }
    return sides;
}

static json_t *make_best(const struct suite_report *report, const struct suite_row *row)
{
    json_t *best = json_object();
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        if (row->best[cost] != NO_ALLOCATOR) {
            (void)json_object_set_new(best, suite_cost_words(cost),
                                      json_string(report->allocators.list[row->best[cost]].name));
        }
    }
    return best;
}

static json_t *make_words(const struct suite_row *row)
{
    json_t *words = json_array();
    for (char *const *word = row->program.words; *word != NULL; word++) {
        (void)json_array_append_new(words, json_string(*word));
    }
    return words;
}

static json_t *make_rows(const struct suite_report *report)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        struct suite_identity program = {.sha256 = ""};
        suite_identity_hash(row->program.path, &program);
        (void)json_array_append_new(
            rows,
            json_pack("{ss ss sI so ss ss ss sb sI so so}", "suite",
                      suite_name(row->workload->suite), "name", row->workload->name, "threads",
                      (json_int_t)row->workload->thread_count, "words", make_words(row),
                      "program_sha256", program.sha256, "figure", row->measure.name, "unit",
                      row->measure.unit, "lower_is_better", row->measure.lower_is_better, "rounds",
                      (json_int_t)row->round_count, "best_peers", make_best(report, row), "sides",
                      make_sides(report, row)));
    }
    return rows;
}

static json_t *make_mean(const struct suite_report *report, enum suite_id suite,
                         enum suite_cost cost)
{
    json_t *peers = json_object();
    for (size_t i = 0; i < report->allocators.count; i++) {
        if (i != report->ours) {
            (void)json_object_set_new(peers, report->allocators.list[i].name,
                                      make_ratio(&report->means[suite][cost][i]));
        }
    }
    return json_pack("{ss ss so so}", "suite", suite_name(suite), "cost", suite_cost_words(cost),
                     "frontier", make_ratio(&report->frontiers[suite][cost]), "hakmem_over", peers);
}

static json_t *make_means(const struct suite_report *report)
{
    json_t *means = json_array();
    for (enum suite_id suite = 0; suite < SUITE_COUNT; suite++) {
        for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
            if (report->frontiers[suite][cost].row_count > 0) {
                (void)json_array_append_new(means, make_mean(report, suite, cost));
            }
        }
    }
    return means;
}

static json_t *make_left_out(const struct suite_report *report)
{
    json_t *sentences = json_array();
    for (size_t i = 0; i < report->left_out_count; i++) {
        (void)json_array_append_new(sentences, json_string(report->left_out[i]));
    }
    return sentences;
}

bool suite_json_write(const struct suite_report *report, const char *path)
{
    struct ab_output output;
    if (!ab_output_open(&output, path)) {
        return false;
    }
    json_t *core = report->core == RUN_CORE_ANY ? json_null() : json_integer(report->core);
    json_t *document = json_pack("{ss so sI so so so so}", "machine", report->machine, "core", core,
                                 "seed", (json_int_t)report->options->common.seed, "allocators",
                                 make_allocators(report), "left_out", make_left_out(report),
                                 "means", make_means(report), "rows", make_rows(report));
    bool is_made = document != NULL && json_dumpf(document, output.file, JSON_INDENT(2)) == 0 &&
                   fputc('\n', output.file) != EOF;
    json_decref(document);
    if (!is_made) {
        talk_say("%s cannot be written: the document could not be made.", path);
        ab_output_abandon(&output);
        return false;
    }
    return ab_output_commit(&output);
}
