// The result of a tuning: for people, and as a profile.
// SPDX-License-Identifier: MIT
#include "shell_words.h"
#include "talk.h"
#include "tune_report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct tune_candidate *candidate;
    const char *evidence;
};

static const char *describe_evidence(const struct tune_candidate *candidate, bool is_finalist)
{
    if (!isfinite(candidate->interval.high)) {
        return is_finalist ? "few rounds" : "dropped early";
    }
    return candidate->is_shown ? "shown" : "not shown";
}

static int compare_rows(const void *left, const void *right)
{
    double left_ratio = ((const struct row *)left)->candidate->interval.ratio;
    double right_ratio = ((const struct row *)right)->candidate->interval.ratio;
    return (left_ratio < right_ratio) - (left_ratio > right_ratio);
}

// The best first.  Each line begins with `lead`.
static void print_candidates(FILE *out, const char *lead, const struct tune_report *report)
{
    struct row rows[2 * TUNE_CANDIDATES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < report->candidates.count; i++) {
        const struct tune_candidate *candidate = &report->candidates.list[i];
        rows[count++] =
            (struct row){candidate, describe_evidence(candidate, i < report->finalist_count)};
    }
    for (size_t i = 1; i < report->combined.count; i++) {
        rows[count++] = (struct row){&report->combined.list[i], "combined"};
    }
    qsort(rows, count, sizeof rows[0], compare_rows);
    (void)fprintf(out, "%s%-8s %6s  %-13s  %s\n", lead, "ratio", "rounds", "evidence", "setting");
    for (size_t i = 0; i < count; i++) {
        const struct tune_candidate *candidate = rows[i].candidate;
        (void)fprintf(out, "%s%-8.4f %6zu  %-13s  %s\n", lead, candidate->interval.ratio,
                      candidate->round_count, rows[i].evidence, candidate->label);
    }
}

static void print_measure(FILE *out, const char *lead, const struct tune_report *report)
{
    const struct experiment_measure *measure = report->measure;
    (void)fprintf(out, "%smeasured: %s, %s is better; ", lead, measure->name,
                  measure->lower_is_better ? "lower" : "higher");
    if (report->core == RUN_CORE_ANY) {
        (void)fprintf(out, "on any core");
    } else {
        (void)fprintf(out, "pinned to core %d", report->core);
    }
    (void)fprintf(out, "; hakmem %s served all %zu runs\n", report->version, report->run_count);
}

static void print_confirmation(FILE *out, const char *lead, const struct tune_report *report)
{
    char level[AB_LEVEL_BYTES];
    const struct ab_comparison *comparison = &report->confirmation;
    const struct abtest_result *result = &comparison->result;
    (void)fprintf(
        out,
        "%sIn %zu fresh pairs, which took no part in the choice: ratio %.4f, %s interval\n"
        "%s%.4f to %.4f; signed-rank p = %.4f; the defaults against themselves %.4f,\n"
        "%s%.4f to %.4f. Peak memory %.1f MiB, with the defaults %.1f MiB.\n",
        lead, comparison->round_count, result->interval.ratio,
        ab_words_level(result->interval.error_rate, level), lead, result->interval.low,
        result->interval.high, result->p_signed_rank, result->control.ratio, lead,
        result->control.low, result->control.high, tune_peak_mib(report, AB_SIDE_B),
        tune_peak_mib(report, AB_SIDE_A));
}

static const char *explain_refusal(const struct abtest_result *result)
{
    if (!result->is_control_clean) {
        return "the defaults differ from themselves here: look what else runs on this machine";
    }
    return result->verdict == ABTEST_UNDECIDED ? "fresh runs don't show that it helps"
                                               : "fresh runs show that it doesn't help";
}

// A profile's file is told from a profile's name by its slash.
static void print_use(FILE *out, const struct tune_report *report)
{
    char path[PATH_MAX + 2];
    const char *output = report->options->output;
    (void)snprintf(path, sizeof path, "%s%s", strchr(output, '/') == NULL ? "./" : "", output);
    (void)fputs("hakmem run --profile ", out);
    shell_words_write(out, (char *[]){path, NULL});
    (void)fputs(" -- PROGRAM\n", out);
}

void tune_table_print(FILE *out, const struct tune_report *report)
{
    shell_words_write_program(out, report->words, report->options->common.workload);
    (void)fputc('\n', out);
    print_measure(out, "", report);
    (void)fputs("Ratios to the defaults; above 1 is better:\n\n", out);
    print_candidates(out, "", report);
    if (report->winner.gate == NULL) {
        (void)fprintf(out,
                      "\nNothing helps beyond noise: none of %zu settings seems better than the "
                      "defaults by 1 %%.\nNothing was written.\n",
                      report->candidates.count);
        return;
    }
    (void)fprintf(out, "\nchosen: %s\n", report->winner.label);
    print_confirmation(out, "", report);
    if (tune_has_result(report)) {
        (void)fprintf(out, "\nIt helps, and is in %s. Use it:\n  ", report->options->output);
        print_use(out, report);
    } else {
        (void)fprintf(out, "\nNothing helps beyond noise: %s.\nNothing was written.\n",
                      explain_refusal(&report->confirmation.result));
    }
}

// What a shell takes may have line breaks, which a comment may not.
static void print_as_comment(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, "# %s: ", name);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '\n' ? "\n#   " : (char[]){*text, '\0'}, out);
    }
    (void)fputc('\n', out);
}

static void print_command(FILE *out, const struct tune_report *report)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *memory = open_memstream(&text, &text_bytes);
    if (memory == NULL) {
        return;
    }
    shell_words_write_command(memory, report->options->common.argv);
    (void)fclose(memory);
    print_as_comment(out, "command", text);
    free(text);
}

void tune_profile_print(FILE *out, const struct tune_report *report)
{
    (void)fputs("# Settings of hakmem, chosen by measurement. Use: ", out);
    print_use(out, report);
    (void)fputs("#\n", out);
    print_command(out, report);
    print_as_comment(out, "machine", report->machine);
    print_measure(out, "# ", report);
    (void)fputs("#\n", out);
    print_confirmation(out, "# ", report);
    (void)fprintf(out,
                  "#\n# Chosen among %zu, the losers dropped early (shown: corrected for all of "
                  "them; above 1 is better):\n",
                  report->candidates.count);
    print_candidates(out, "#   ", report);
    (void)fputs("\n", out);
    char *const *environment = report->confirmation.sides[AB_SIDE_B].environment;
    for (; *environment != NULL; environment++) {
        if (experiment_environment_is_setting(*environment)) {
            (void)fprintf(out, "%s\n", *environment);
        }
    }
}
