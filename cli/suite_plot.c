// The pictures of the suite in one SVG.
// SPDX-License-Identifier: MIT
#include "gnuplot.h"
#include "suite_chart.h"

#include <stdlib.h>

struct pictures {
    struct suite_chart *charts;
    size_t count;
};

static void write_script(FILE *out, const char *path, const void *context)
{
    const struct pictures *pictures = context;
    (void)fprintf(out, "set terminal svg size %d,%zu noenhanced background 'white'\nset output ",
                  SUITE_CHART_WIDTH, SUITE_CHART_HEIGHT * pictures->count);
    gnuplot_write_quoted(out, path);
    (void)fprintf(out, "\nset multiplot layout %zu,1\n", pictures->count);
    for (size_t i = 0; i < pictures->count; i++) {
        suite_chart_write(out, &pictures->charts[i], i);
    }
    (void)fputs("unset multiplot\n", out);
}

bool suite_plot_write(const struct suite_report *report, const char *path)
{
    struct pictures pictures;
    pictures.count = suite_charts_list(report, &pictures.charts);
    bool is_drawn = pictures.count > 0 && gnuplot_draw(path, write_script, &pictures);
    free(pictures.charts);
    return is_drawn;
}
