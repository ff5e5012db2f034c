// The result of the suite as one page that needs nothing else: tables, and pictures drawn by gnuplot.
// SPDX-License-Identifier: MIT
//
// It is well-formed XML too, so that a page that was cut off shows.
#include "ab_output.h"
#include "gnuplot.h"
#include "suite_chart.h"
#include "suite_report.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body { font: 15px/1.4 sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; "
    "color: #222; }\n"
    "table { border-collapse: collapse; margin: 1em 0; }\n"
    "th, td { padding: 0.2em 0.7em; border-bottom: 1px solid #ddd; text-align: left; }\n"
    "td.good { background: #e6f4e1; } td.bad { background: #fbe4d5; }\n"
    "code { font-size: 90%; overflow-wrap: anywhere; } svg { max-width: 100%; height: auto; }\n";

static void write_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        default:
            (void)fputc(*text, out);
        }
    }
}

static void write_element(FILE *out, const char *tag, const char *text)
{
    (void)fprintf(out, "<%s>", tag);
    write_text(out, text);
    (void)fprintf(out, "</%s>", tag);
}

static void write_head(FILE *out, const struct suite_report *report)
{
    (void)fprintf(out,
                  "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
                  "<head><meta charset=\"utf-8\"/><title>hakmem bench</title>\n<style>%s</style>"
                  "</head>\n<body>\n<h1>hakmem and its peers</h1>\n",
                  style);
    write_element(out, "p", report->machine);
    (void)fprintf(out,
                  "\n<p>%zu rounds in turns. Ratios are hakmem's cost over that of the peer, of "
                  "medians: below 1 hakmem is better. In brackets the 95 %% interval; it needs 6 "
                  "rounds. The frontier is the geometric mean over the rows of hakmem over the "
                  "best peer on that row.</p>\n<table>\n<tr><th>allocator</th><th>version</th>"
                  "<th>file</th><th>bytes</th><th>SHA-256</th></tr>\n",
                  report->options->rounds);
    for (size_t i = 0; i < report->allocators.count; i++) {
        const struct suite_identity *identity = &report->identities[i];
        (void)fputs("<tr>", out);
        write_element(out, "td", report->allocators.list[i].name);
        write_element(out, "td", identity->version);
        write_element(out, "td", report->allocators.list[i].object);
        (void)fprintf(out, "<td>%zu</td><td><code>%s</code></td></tr>\n", identity->file_bytes,
                      identity->sha256);
    }
    (void)fputs("</table>\n", out);
    for (size_t i = 0; i < report->left_out_count; i++) {
        (void)fputs("<p>Left out: ", out);
        write_text(out, report->left_out[i]);
        (void)fputs(".</p>\n", out);
    }
}

// A ratio, coloured where its interval says so.
static void write_ratio(FILE *out, const struct suite_ratio *ratio, const char *name)
{
    char text[SUITE_RATIO_BYTES];
    if (ratio == NULL || ratio->row_count == 0) {
        (void)fputs("<td></td>", out);
        return;
    }
    const char *kind = ratio->high < 1 ? "good" : ratio->low > 1 ? "bad" : "even";
    (void)fprintf(out, "<td class=\"%s\">%s ", kind, suite_ratio_text(ratio, text));
    write_text(out, name);
    (void)fputs("</td>", out);
}

static void write_rows(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    const struct suite_row **rows = NULL;
    size_t row_count = suite_sort_rows(report, suite, &rows);
    (void)fputs("<table>\n<tr><th>row, the worst first</th>", out);
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        write_element(out, "th", suite_cost_words(cost));
    }
    (void)fputs("</tr>\n", out);
    for (size_t i = 0; i < row_count; i++) {
        (void)fputs("<tr>", out);
        write_element(out, "td", rows[i]->workload->name);
        for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
            size_t best = rows[i]->best[cost];
            write_ratio(out, suite_frontier_ratio(rows[i], cost),
                        best != NO_ALLOCATOR ? report->allocators.list[best].name : "");
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("<tr><th>frontier</th>", out);
    for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
        write_ratio(out, &report->frontiers[suite][cost], "");
    }
    (void)fputs("</tr>\n", out);
    for (size_t i = 0; i < report->allocators.count; i++) {
        if (i == report->ours) {
            continue;
        }
        (void)fputs("<tr><th>mean over ", out);
        write_text(out, report->allocators.list[i].name);
        (void)fputs("</th>", out);
        for (enum suite_cost cost = 0; cost < COST_COUNT; cost++) {
            write_ratio(out, &report->means[suite][cost][i], "");
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</table>\n", out);
    free((void *)rows);
}

struct picture {
    const struct suite_chart *chart;
    size_t index;
};

static void write_script(FILE *out, const char *path, const void *context)
{
    const struct picture *picture = context;
    (void)fprintf(out,
                  "set terminal svg size %d,%d noenhanced name 'chart%zu' background 'white'\n"
                  "set output ",
                  SUITE_CHART_WIDTH, SUITE_CHART_HEIGHT, picture->index);
    gnuplot_write_quoted(out, path);
    (void)fputc('\n', out);
    suite_chart_write(out, picture->chart, picture->index);
}

// Without the lines before the picture, which only a file of its own may have.
static bool write_picture(FILE *out, const struct picture *picture)
{
    char *text = gnuplot_draw_text(write_script, picture);
    const char *start = text != NULL ? strstr(text, "<svg") : NULL;
    if (start != NULL) {
        (void)fprintf(out, "<div>%s</div>\n", start);
    }
    free(text);
    return start != NULL;
}

static bool write_pictures(FILE *out, const struct suite_report *report, enum suite_id suite)
{
    struct suite_chart *charts = NULL;
    size_t count = suite_charts_list(report, &charts);
    bool is_good = count > 0;
    for (size_t i = 0; is_good && i < count; i++) {
        if (report->rows[charts[i].first_row].workload->suite == suite) {
            is_good = write_picture(out, &(struct picture){&charts[i], i});
        }
    }
    free(charts);
    return is_good;
}

bool suite_html_write(const struct suite_report *report, const char *path)
{
    struct ab_output output;
    bool is_good = true;
    if (!ab_output_open(&output, path)) {
        return false;
    }
    write_head(output.file, report);
    for (enum suite_id suite = 0; is_good && suite < SUITE_COUNT; suite++) {
        if (suite_has_rows(report, suite)) {
            write_element(output.file, "h2", suite_name(suite));
            write_rows(output.file, report, suite);
            is_good = write_pictures(output.file, report, suite);
        }
    }
    if (!is_good) {
        ab_output_abandon(&output);
        return false;
    }
    (void)fputs("</body>\n</html>\n", output.file);
    return ab_output_commit(&output);
}
