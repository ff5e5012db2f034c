// Pictures drawn by gnuplot, which reads its script from memory.
// Layer: cli.  Needs: ab_output, experiment_run, program_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_GNUPLOT_H
#define HAK_CLI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

// False, having said what to do, when gnuplot isn't there.
bool gnuplot_is_there(void);

// A text in single quotes, as gnuplot takes it.
void gnuplot_write_quoted(FILE *out, const char *text);

// Writes a script that draws into the file `output`.
typedef void gnuplot_script(FILE *out, const char *output, const void *context);

// Draws the picture into `path`, whole or not at all.  Returns false, having said why.
bool gnuplot_draw(const char *path, gnuplot_script *write_script, const void *context);

// The same as a text, to be part of another file; the caller frees it.  NULL, having said why.
char *gnuplot_draw_text(gnuplot_script *write_script, const void *context);

#endif
