// SPDX-License-Identifier: MIT
#include "table_options.h"

#include "command.h"
#include "talk.h"

#include <argp.h>
#include <stdlib.h>

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print one JSON document", 0},
    {"markdown", 'm', NULL, 0, "Print a Markdown table", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_option(int key, char *argument __attribute__((unused)),
                            struct argp_state *state)
{
    enum table_form *form = state->input;
    switch (key) {
    case 'j':
        *form = TABLE_JSON;
        return 0;
    case 'm':
        *form = TABLE_MARKDOWN;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum table_form table_options_read(int argc, char **argv, const char *help)
{
    const struct argp argp = {.options = options, .parser = parse_option, .doc = help};
    enum table_form form = TABLE_PLAIN;
    if (argp_parse(&argp, argc, argv, 0, NULL, &form) != 0) {
        exit(EXIT_WRONG_USAGE);
    }
    return form;
}

void table_print_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        (void)fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    }
}

int table_print_json(json_t *document)
{
    int error = document == NULL || json_dumpf(document, stdout, JSON_INDENT(2)) != 0;
    json_decref(document);
    if (error) {
        talk_say("The output could not be written.");
        return EXIT_TOOL_FAILED;
    }
    (void)putchar('\n');
    return EXIT_SUCCESS;
}
