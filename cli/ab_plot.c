// SPDX-License-Identifier: MIT
#include "ab_plot.h"

#include "gnuplot.h"

#include <math.h>
#include <string.h>

enum {
    ROW_PIXELS = 640,
    COLUMN_PIXELS = 960,
};

static void write_data(FILE *out, const struct ab_report *report, size_t index)
{
    const struct ab_comparison *comparison = &report->comparisons[index];
    const struct experiment_side *sides = comparison->sides;
    double gains[ABTEST_PAIRS_MOST];
    abtest_gains(sides[AB_SIDE_A].figures, sides[AB_SIDE_B].figures, comparison->round_count,
                 report->measure->lower_is_better, gains);
    (void)fprintf(out, "$runs%zu << END\n", index);
    for (size_t round = 0; round < comparison->round_count; round++) {
        (void)fprintf(out, "%zu", round + 1);
        for (size_t side = 0; side < AB_SIDE_COUNT; side++) {
            char figure[MEASURE_TEXT_BYTES];
            (void)fprintf(out, " %s",
                          experiment_measure_format(report->measure, sides[side].figures[round],
                                                    comparison->result.a.mean, figure));
        }
        (void)fprintf(out, " %.9g\n", exp(gains[round]));
    }
    (void)fputs("END\n", out);
}

static void write_runs(FILE *out, const struct ab_report *report, size_t index)
{
    const struct ab_comparison *comparison = &report->comparisons[index];
    char unit[MEASURE_TEXT_BYTES];
    char label[sizeof report->measure->name + sizeof unit + 2];
    (void)experiment_measure_unit(report->measure, comparison->result.a.mean, unit);
    (void)snprintf(label, sizeof label, "%s%s%s", report->measure->name,
                   unit[0] != '\0' ? ", " : "", unit);
    (void)fputs("unset object\nset title ", out);
    gnuplot_write_quoted(out, index == 0 ? "Every run" : "");
    (void)fputs("\nset ylabel ", out);
    gnuplot_write_quoted(out, label);
    (void)fprintf(out,
                  "\nplot $runs%zu using 1:2 with points pointtype 7 linecolor 'steelblue' title ",
                  index);
    gnuplot_write_quoted(out, comparison->texts[AB_SIDE_A]);
    (void)fprintf(out, ", $runs%zu using 1:4 with points pointtype 6 linecolor 'steelblue' title ",
                  index);
    gnuplot_write_quoted(out, "the same again");
    (void)fprintf(
        out, ", $runs%zu using 1:3 with points pointtype 7 linecolor 'dark-orange' title ", index);
    gnuplot_write_quoted(out, comparison->texts[AB_SIDE_B]);
    (void)fputc('\n', out);
}

static void write_gains(FILE *out, const struct ab_report *report, size_t index)
{
    char level[AB_LEVEL_BYTES];
    char title[128];
    const struct ab_comparison *comparison = &report->comparisons[index];
    const struct abtest_interval *interval = &comparison->result.interval;
    bool is_known = isfinite(interval->high);
    (void)snprintf(title, sizeof title, "%s: B/A %.4f, %s interval %.4f to %.4f",
                   ab_words_verdict(comparison->result.verdict), interval->ratio,
                   ab_words_level(interval->error_rate, level), interval->low, interval->high);
    (void)fputs("set title ", out);
    gnuplot_write_quoted(out, title);
    (void)fputs("\nset ylabel 'B/A, above 1: B is better'\n", out);
    if (is_known) {
        (void)fprintf(out,
                      "set object 1 rectangle from graph 0, first %.9g to graph 1, first %.9g "
                      "fillcolor 'dark-orange' fillstyle solid 0.25 noborder behind\n",
                      interval->low, interval->high);
    }
    (void)fprintf(
        out,
        "plot $runs%zu using 1:5 with points pointtype 7 linecolor 'dark-orange' title 'pairs', "
        "%.9g linecolor 'dark-orange' title 'their centre', "
        "1 linecolor 'gray40' dashtype 2 title 'no difference'\n",
        index, interval->ratio);
}

static void write_script(FILE *out, const char *path, const void *context)
{
    const struct ab_report *report = context;
    (void)fprintf(out, "set terminal svg size %d,%zu noenhanced background 'white'\nset output ",
                  COLUMN_PIXELS, ROW_PIXELS * report->comparison_count);
    gnuplot_write_quoted(out, path);
    (void)fprintf(out,
                  "\nset key outside top center horizontal\nset xlabel 'round'\nset grid\n"
                  "set offsets 0.5, 0.5, graph 0.05, graph 0.05\nset multiplot layout %zu,1\n",
                  2 * report->comparison_count);
    for (size_t i = 0; i < report->comparison_count; i++) {
        write_data(out, report, i);
        write_runs(out, report, i);
        write_gains(out, report, i);
    }
    (void)fputs("unset multiplot\n", out);
}

bool ab_plot_write(const struct ab_report *report, const char *path)
{
    return gnuplot_draw(path, write_script, report);
}
