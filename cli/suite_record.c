// The result of the suite as a record for docs/analysis/, the rows that hakmem loses first.
// SPDX-License-Identifier: MIT
#include "shell_words.h"
#include "suite_report.h"

#include <stdlib.h>
#include <string.h>

enum {
    HASH_DIGITS = 16,
    NOTE_BYTES = 1024,
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void print_frontiers(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    const struct suite_ratio *time = &report->frontiers[suite][COST_TIME];
    const struct suite_ratio *peak = &report->frontiers[suite][COST_RSS];
    (void)fprintf(out, "%s", suite_name(suite));
    if (time->row_count > 0) {
        (void)fprintf(out, " time %.3f", time->ratio);
    }
    if (peak->row_count > 0) {
        (void)fprintf(out, "%s peak memory %.3f", time->row_count > 0 ? "," : "", peak->ratio);
    }
}

static void print_head(FILE *out, const struct suite_report *report)
{
    const char *separator = "";
    (void)fputs("# Scoreboard: how far is hakmem from the best allocator of each workload?\n\n"
                "**Status.** measured: frontiers ",
                out);
    for (enum suite_id suite = 0; suite < SUITE_COUNT; suite++) {
        if (suite_has_rows(report, suite)) {
            (void)fputs(separator, out);
            print_frontiers(out, report, suite);
            separator = "; ";
        }
    }
    (void)fprintf(out,
                  ".\n\n**Question.** On each workload, what does hakmem cost over the best of "
                  "its peers?\n\n**Machine.** %s.\n\n**Command.** `",
                  report->machine);
    (void)fputs("hakmem bench", out);
    for (char *const *word = report->options->common.argv + 1; *word != NULL; word++) {
        (void)fprintf(out, " %s", strchr(*word, '/') != NULL ? "..." : *word);
    }
    (void)fprintf(out,
                  "`\n%zu rounds of all allocators in turns, each in a random order and then "
                  "backwards (seed %llu); a warm-up of each thrown away; ",
                  report->options->rounds, (unsigned long long)report->options->common.seed);
    if (report->core == RUN_CORE_ANY) {
        (void)fputs("not pinned.", out);
    } else {
        (void)fputs("programs with one thread pinned.", out);
    }
    (void)fputs(" In every run each process named the object that its malloc comes from, and it "
                "was the one meant.\n\nRatios are hakmem's cost over that of the peer, of medians: "
                "below 1 hakmem is better. In brackets the 95 % interval of the ratios pair by "
                "pair; it needs 6 rounds. *Frontier*: the geometric mean over the rows of hakmem "
                "over the best peer on that row.\n\n",
                out);
}

static void print_allocators(FILE *out, const struct suite_report *report)
{
    (void)fputs("| allocator | version | file | bytes | SHA-256 |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct suite_identity *identity = &report->identities[i];
        (void)fprintf(out, "| %s | %s | `%s` | %zu | `%.*s` |\n", report->allocators.list[i].name,
                      identity->version, base_of(report->allocators.list[i].object),
                      identity->file_bytes, HASH_DIGITS, identity->sha256);
    }
    for (size_t i = 0; i < report->left_out_count; i++) {
        (void)fprintf(out, "%sLeft out: %s.\n", i == 0 ? "\n" : "", report->left_out[i]);
    }
}

static void print_mean_cells(FILE *out, const struct suite_ratio ratios[COST_COUNT][NO_ALLOCATOR],
                             size_t allocator)
{
    for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
        char text[SUITE_RATIO_BYTES] = "";
        if (ratios[cost][allocator].row_count > 0) {
            (void)suite_ratio_text(&ratios[cost][allocator], text);
        }
        (void)fprintf(out, " %s |", text);
    }
    (void)fputc('\n', out);
}

static void print_means(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    (void)fputs("\n| geometric mean of hakmem over | time | CPU time | peak memory |\n"
                "|---|---|---|---|\n| **the best of each row** |",
                out);
    for (enum suite_cost cost = 0; cost < COST_TABLE_COUNT; cost++) {
        char text[SUITE_RATIO_BYTES] = "";
        if (report->frontiers[suite][cost].row_count > 0) {
            (void)suite_ratio_text(&report->frontiers[suite][cost], text);
        }
        (void)fprintf(out, " **%s** |", text);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < report->allocators.count; i++) {
        if (i != report->ours) {
            (void)fprintf(out, "| %s |", report->allocators.list[i].name);
            print_mean_cells(out, report->means[suite], i);
        }
    }
}

static void print_best(FILE *out, const struct suite_report *report, const struct suite_row *row,
                       enum suite_cost cost)
{
    char text[SUITE_RATIO_BYTES];
    if (row->best[cost] == NO_ALLOCATOR) {
        (void)fputs(" |", out);
        return;
    }
    (void)fprintf(out, " %s %s |", suite_ratio_text(suite_frontier_ratio(row, cost), text),
                  report->allocators.list[row->best[cost]].name);
}

static void print_rows(FILE *out, const struct suite_report *report,
                       const struct suite_row *const *rows, size_t row_count)
{
    (void)fputs("\n| row | time over the best peer | CPU time | peak memory | memory after idle |\n"
                "|---|---|---|---|---|\n",
                out);
    for (size_t i = 0; i < row_count; i++) {
        (void)fprintf(out, "| %s |", rows[i]->workload->name);
        for (enum suite_cost cost = 0; cost <= COST_IDLE; cost++) {
            print_best(out, report, rows[i], cost);
        }
        (void)fputc('\n', out);
    }
}

static bool has_cost(const struct suite_row *const *rows, size_t row_count, enum suite_cost cost)
{
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i]->cells[cost][0].is_there || rows[i]->best[cost] != NO_ALLOCATOR) {
            return true;
        }
    }
    return false;
}

static void print_medians(FILE *out, const struct suite_report *report, const struct suite_row *row,
                          enum suite_cost cost)
{
    (void)fprintf(out, "| %s |", row->workload->name);
    for (size_t allocator = 0; allocator < report->allocators.count; allocator++) {
        const struct suite_cell *cell = &row->cells[cost][allocator];
        char text[SUITE_FIGURE_BYTES] = "";
        if (cell->is_there) {
            (void)suite_figure_text(row, cost, cell->median, text);
        }
        (void)fprintf(out, " %s |", text);
    }
    (void)fputc('\n', out);
}

// Every allocator's median.
static void print_figures(FILE *out, const struct suite_report *report,
                          const struct suite_row *const *rows, size_t row_count,
                          enum suite_cost cost)
{
    if (!has_cost(rows, row_count, cost)) {
        return;
    }
    (void)fprintf(out, "\n| %s |", suite_cost_words(cost));
    for (size_t i = 0; i < report->allocators.count; i++) {
        (void)fprintf(out, " %s |", report->allocators.list[i].name);
    }
    (void)fputs("\n|---|", out);
    for (size_t i = 0; i < report->allocators.count; i++) {
        (void)fputs("---|", out);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < row_count; i++) {
        if (has_cost(&rows[i], 1, cost)) {
            print_medians(out, report, rows[i], cost);
        }
    }
}

static void print_latency(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    static const struct suite_latency_form form = {"| ", " | ", " |", 0, 0};
    if (suite_has_latency(report, suite)) {
        (void)fputs(
            "\n| single calls, ns | allocator | malloc p50 | p99 | p99.9 | max | free p50 | "
            "p99 | p99.9 | max |\n|---|---|---|---|---|---|---|---|---|---|\n",
            out);
        suite_latency_print(out, report, suite, &form);
    }
}

static bool is_about_a_row(const char *note, const struct suite_row *const *rows, size_t row_count)
{
    size_t length = strcspn(note, ":");
    for (size_t i = 0; i < row_count && note[length] == ':'; i++) {
        const char *name = rows[i]->workload->name;
        if (strlen(name) == length && strncmp(name, note, length) == 0) {
            return true;
        }
    }
    return false;
}

// Lines "ROW: sentence" of the file of notes.
static void print_notes(FILE *out, const char *path, const struct suite_row *const *rows,
                        size_t row_count)
{
    char line[NOTE_BYTES];
    const char *separator = "\n";
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (is_about_a_row(line, rows, row_count)) {
            (void)fprintf(out, "%s- %s", separator, line);
            separator = "";
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
}

// In time, or in memory that stays where that is what the row shows.
static bool is_lost(const struct suite_row *row)
{
    const struct suite_ratio *time = suite_frontier_ratio(row, COST_TIME);
    const struct suite_ratio *idle = suite_frontier_ratio(row, COST_IDLE);
    return (time != NULL && time->ratio > 1) || (idle != NULL && idle->ratio > 1);
}

static void print_lost(FILE *out, const struct suite_report *report)
{
    const struct suite_row **rows = NULL;
    size_t row_count = suite_sort_rows(report, SUITE_COUNT, &rows);
    size_t lost_count = 0;
    while (lost_count < row_count && is_lost(rows[lost_count])) {
        lost_count++;
    }
    (void)fprintf(out, "\n## Rows where a peer is ahead: %zu of %zu\n", lost_count, row_count);
    if (lost_count > 0) {
        print_rows(out, report, rows, lost_count);
    }
    print_notes(out, report->options->notes_path, rows, row_count);
    free((void *)rows);
}

static void print_suite(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    const struct suite_row **rows = NULL;
    size_t row_count = suite_sort_rows(report, suite, &rows);
    if (row_count > 0) {
        (void)fprintf(out, "\n## %s\n", suite_name(suite));
        print_rows(out, report, rows, row_count);
        print_means(out, report, suite);
        for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
            print_figures(out, report, rows, row_count, cost);
        }
        print_latency(out, report, suite);
    }
    free((void *)rows);
}

void suite_record_print(FILE *out, const struct suite_report *report)
{
    print_head(out, report);
    print_allocators(out, report);
    print_lost(out, report);
    for (enum suite_id suite = 0; suite < SUITE_COUNT; suite++) {
        print_suite(out, report, suite);
    }
}
