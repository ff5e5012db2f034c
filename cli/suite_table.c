// The result of the suite for people.
// SPDX-License-Identifier: MIT
#include "suite_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HASH_DIGITS = 16
};

static void print_allocators(FILE *out, const struct suite_report *report)
{
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct compare_allocator *allocator = &report->allocators.list[i];
        const struct suite_identity *identity = &report->identities[i];
        (void)fprintf(out, "%-10s %s%s%s, %zu bytes%s%.*s\n", allocator->name, allocator->object,
                      identity->version[0] != '\0' ? ", version " : "", identity->version,
                      identity->file_bytes, identity->sha256[0] != '\0' ? ", SHA-256 " : "",
                      HASH_DIGITS, identity->sha256);
    }
}

static void print_head(FILE *out, const struct suite_report *report)
{
    (void)fprintf(out, "%s\n%zu rounds in turns; ", report->machine, report->options->rounds);
    if (report->core == RUN_CORE_ANY) {
        (void)fputs("on any core\n", out);
    } else {
        (void)fprintf(out, "a single thread is pinned to core %d\n", report->core);
    }
    print_allocators(out, report);
    for (size_t i = 0; i < report->left_out_count; i++) {
        (void)fprintf(out, "left out: %s\n", report->left_out[i]);
    }
}

// "0.943 [0.930, 0.957] mimalloc"
static void print_cell(FILE *out, const struct suite_report *report, const struct suite_row *row,
                       enum suite_cost cost)
{
    char ratio[SUITE_RATIO_BYTES];
    char cell[SUITE_RATIO_BYTES + COMPARE_NAME_BYTES] = "";
    if (row->best[cost] != NO_ALLOCATOR) {
        (void)snprintf(cell, sizeof cell, "%s %s",
                       suite_ratio_text(suite_frontier_ratio(row, cost), ratio),
                       report->allocators.list[row->best[cost]].name);
    }
    (void)fprintf(out, "  %-30s", cell);
}

static void print_rows(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    (void)fprintf(out, "\n%-22s %14s", suite_name(suite), "hakmem");
    for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
        char title[64];
        (void)snprintf(title, sizeof title, "%s / best peer", suite_cost_words(cost));
        (void)fprintf(out, "  %-30s", title);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        if (row->workload->suite != suite) {
            continue;
        }
        char figure[SUITE_FIGURE_BYTES];
        enum suite_cost first = row->workload->figure == FIGURE_IDLE ? COST_IDLE : COST_TIME;
        (void)fprintf(
            out, "%-22s %14s", row->workload->name,
            suite_figure_text(row, first, row->cells[first][report->ours].median, figure));
        for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
            print_cell(out, report, row, cost);
        }
        (void)fputc('\n', out);
    }
}

static void print_medians(FILE *out, const struct suite_report *report, const struct suite_row *row,
                          enum suite_cost cost)
{
    (void)fprintf(out, "  %-20s", row->workload->name);
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        const struct suite_cell *cell = &row->cells[cost][allocator];
        char figure[SUITE_FIGURE_BYTES];
        if (cell->is_there) {
            (void)fprintf(out, "  %s %s", report->allocators.list[allocator].name,
                          suite_figure_text(row, cost, cell->median, figure));
        }
    }
    (void)fputc('\n', out);
}

// What only some rows have: of each allocator as it is.
static void print_further(FILE *out, const struct suite_report *report, enum suite_id suite,
                          enum suite_cost cost)
{
    if (report->frontiers[suite][cost].row_count == 0) {
        return;
    }
    (void)fprintf(out, "%s\n", suite_cost_words(cost));
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        if (row->workload->suite == suite && row->best[cost] != NO_ALLOCATOR) {
            print_medians(out, report, row, cost);
        }
    }
}

static void print_latency(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    static const struct suite_latency_form form = {"  ", " ", "", 20, 8};
    if (suite_has_latency(report, suite)) {
        (void)fprintf(out, "single calls, ns %14s%9s%9s%9s%9s%9s%9s%9s%9s\n", "malloc", "p50",
                      "p99", "p99.9", "max", "free p50", "p99", "p99.9", "max");
        suite_latency_print(out, report, suite, &form);
    }
}

static void print_mean(FILE *out, const char *name, const struct suite_ratio *costs[])
{
    (void)fprintf(out, "%-37s", name);
    for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
        char ratio[SUITE_RATIO_BYTES] = "";
        if (costs[cost]->row_count > 0) {
            (void)suite_ratio_text(costs[cost], ratio);
        }
        (void)fprintf(out, "  %-30s", ratio);
    }
    (void)fputc('\n', out);
}

static void print_means(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    const struct suite_ratio *costs[COST_TABLE_COUNT];
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        char name[COMPARE_NAME_BYTES + 32];
        if (allocator == report->ours) {
            continue;
        }
        for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
            costs[cost] = &report->means[suite][cost][allocator];
        }
        (void)snprintf(name, sizeof name, "mean, hakmem / %s",
                       report->allocators.list[allocator].name);
        print_mean(out, name, costs);
    }
    for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
        costs[cost] = &report->frontiers[suite][cost];
    }
    print_mean(out, "frontier, hakmem / best of each row", costs);
}

void suite_table_print(FILE *out, const struct suite_report *report)
{
    print_head(out, report);
    for (enum suite_id suite = 0; suite < SUITE_COUNT; suite++) {
        if (suite_has_rows(report, suite)) {
            print_rows(out, report, suite);
            print_means(out, report, suite);
            print_further(out, report, suite, COST_IDLE);
            print_further(out, report, suite, COST_CALLS);
            print_latency(out, report, suite);
        }
    }
    (void)fputs("\nRatios are hakmem's cost over that of the peer, of medians: below 1 hakmem is "
                "better. In brackets the\n95 % interval of the pairs; it needs 6 rounds. Means are "
                "geometric. In every run each process named the\nobject that its malloc comes "
                "from, and it was the one meant.\n",
                out);
}
