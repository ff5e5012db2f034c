// Every run of an A/B as a picture, drawn by gnuplot.
// Layer: cli.  Needs: ab_output, ab_report.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_PLOT_H
#define HAK_CLI_AB_PLOT_H

#include "ab_report.h"

// False, having said what to do, when gnuplot isn't there.
bool ab_plot_is_possible(void);

// Writes an SVG: the figures of each side by round, and below them the gains with their interval.
// Returns false, having said why.
bool ab_plot_write(const struct ab_report *report, const char *path);

#endif
