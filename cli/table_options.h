// The options of commands that print a table: --json and --markdown.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TABLE_OPTIONS_H
#define HAK_CLI_TABLE_OPTIONS_H

#include <stdio.h>

#include <jansson.h>

enum table_form {
    TABLE_PLAIN,
    TABLE_JSON,
    TABLE_MARKDOWN
};

// Reads the options of a command that takes nothing else; ends the process on a wrong one.
enum table_form table_options_read(int argc, char **argv, const char *help);

// A cell of a Markdown table: '|' is escaped.
void table_print_cell(FILE *out, const char *text);

// Prints the document on standard output and releases it.  Returns an exit status.
int table_print_json(json_t *document);

#endif
