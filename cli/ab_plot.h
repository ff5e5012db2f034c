// Every run of an A/B as a picture, drawn by gnuplot.
// Layer: cli.  Needs: ab_report, gnuplot.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_PLOT_H
#define HAK_CLI_AB_PLOT_H

#include "ab_report.h"

// Writes an SVG: the figures of each side by round, and below them the gains with their interval.
// Returns false, having said why.
bool ab_plot_write(const struct ab_report *report, const char *path);

#endif
