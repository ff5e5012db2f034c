// Words as a shell takes them, quoted where they must be.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SHELL_WORDS_H
#define HAK_CLI_SHELL_WORDS_H

#include <stdio.h>

void shell_words_write(FILE *out, char *const *words);

// The program of an experiment; `workload` is the name of the one that comes with hakmem, or NULL.
void shell_words_write_program(FILE *out, char *const *words, const char *workload);

// A whole command line, whose argv[0] is "hakmem" and the name of the subcommand.
void shell_words_write_command(FILE *out, char *const *argv);

#endif
