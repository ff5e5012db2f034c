// The ratios of a comparison of allocators as bars, drawn by gnuplot.
// SPDX-License-Identifier: MIT
#include "compare_report.h"
#include "gnuplot.h"

#include <math.h>

enum {
    PLOT_WIDTH = 960,
    PLOT_HEIGHT = 720,
};

static const char *colour_of(const struct compare_report *report, size_t side)
{
    if (side == 0) {
        return "0xb0b0b0";
    }
    return report->allocators.list[side].is_hakmem ? "0xff8c00" : "0x4682b4";
}

// One line an allocator: place, ratio, bounds, colour, name.
static void write_data(FILE *out, const struct compare_report *report, size_t measure)
{
    (void)fprintf(out, "$ratios%zu << END\n", measure);
    for (size_t side = 0; side < report->allocators.count; side++) {
        const struct abtest_interval *interval = &report->cells[measure][side].result.interval;
        double ratio = side == 0 ? 1 : interval->ratio;
        bool is_known = side > 0 && isfinite(interval->high);
        (void)fprintf(out, "%zu %.9g %.9g %.9g %s \"%s\"\n", side, ratio,
                      is_known ? interval->low : ratio, is_known ? interval->high : ratio,
                      colour_of(report, side), report->allocators.list[side].name);
    }
    (void)fputs("END\n", out);
}

static void write_bars(FILE *out, size_t measure)
{
    (void)fputs("set title ", out);
    gnuplot_write_quoted(out, compare_measure_words(measure));
    (void)fprintf(
        out,
        "\nplot $ratios%zu using 1:2:5:xticlabels(6) with boxes linecolor rgb variable, "
        "'' using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.2 linewidth 2 linecolor 'black', "
        "'' using 1:4:(sprintf('%%.3f', $2)) with labels offset 0,0.8, "
        "1 linecolor 'gray40' dashtype 2\n",
        measure);
}

static void write_script(FILE *out, const char *path, const void *context)
{
    const struct compare_report *report = context;
    char label[COMPARE_NAME_BYTES + 64];
    (void)fprintf(out, "set terminal svg size %d,%d noenhanced background 'white'\nset output ",
                  PLOT_WIDTH, PLOT_HEIGHT);
    gnuplot_write_quoted(out, path);
    (void)snprintf(label, sizeof label, "cost over that of %s", report->allocators.list[0].name);
    (void)fputs("\nset ylabel ", out);
    gnuplot_write_quoted(out, label);
    (void)fputs("\nunset key\nset style fill solid 0.8 border\nset boxwidth 0.6\nset grid y\n"
                "set pointintervalbox 0\nset yrange [0:*]\nset xtics scale 0\nset offsets 0.6, "
                "0.6, graph 0.1, 0\n"
                "set multiplot layout 2,2 title ",
                out);
    (void)snprintf(label, sizeof label, "below 1: better; with 95 %% intervals, %zu rounds",
                   report->round_count);
    gnuplot_write_quoted(out, label);
    (void)fputc('\n', out);
    for (size_t measure = 0; measure < COMPARE_MEASURE_COUNT; measure++) {
        write_data(out, report, measure);
        write_bars(out, measure);
    }
    (void)fputs("unset multiplot\n", out);
}

bool compare_plot_write(const struct compare_report *report, const char *path)
{
    return gnuplot_draw(path, write_script, report);
}
