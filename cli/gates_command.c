// `hakmem gates`: the table of settings.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "policy/gates.h"
#include "table_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CELL_BYTES = GATE_TEXT_BYTES
};

static const char *const type_words[] = {
    [GATE_TYPE_BOOL] = "bool", [GATE_TYPE_COUNT] = "count",   [GATE_TYPE_SIZE] = "size",
    [GATE_TYPE_MASK] = "mask", [GATE_TYPE_CHOICE] = "choice", [GATE_TYPE_TEXT] = "text",
};
static const char *const when_words[] = {[GATE_START] = "start", [GATE_LIVE] = "live"};
static const char *const status_words[] = {
    [GATE_STABLE] = "stable", [GATE_RESEARCH] = "research", [GATE_RETIRED] = "retired"};

// What the table says of one gate.
struct gate_row {
    const struct gate_info *gate;
    char initial[CELL_BYTES];
    char value[CELL_BYTES];  // by this process's environment
    char range[CELL_BYTES];
};

static void fill_row(struct gate_row *row, enum gate_id id, const struct gates *values)
{
    row->gate = &gate_table[id];
    (void)gate_format(&gates_default, id, row->initial, sizeof row->initial);
    (void)gate_format(values, id, row->value, sizeof row->value);
    (void)gate_format_range(id, row->range, sizeof row->range);
}

static void print_plain(const struct gate_row *row)
{
    const struct gate_info *gate = row->gate;
    (void)printf("%s  %s  (%s)\n", gate->env, row->initial[0] != '\0' ? row->initial : "unset",
                 row->range);
    (void)printf("    %s\n", gate->help);
    if (gate->when == GATE_LIVE) {
        (void)printf("    can be changed while the program runs\n");
    }
    if (gate->status != GATE_STABLE) {
        (void)printf("    status: %s\n", status_words[gate->status]);
    }
    if (strcmp(row->initial, row->value) != 0) {
        (void)printf("    now: %s\n", row->value);
    }
}

static void print_markdown(const struct gate_row *row)
{
    const struct gate_info *gate = row->gate;
    (void)printf("| `%s` | %s | ", gate->env, row->initial[0] != '\0' ? row->initial : "unset");
    table_print_cell(stdout, row->range);
    (void)printf(" | %s | %s | ", when_words[gate->when], status_words[gate->status]);
    table_print_cell(stdout, gate->help);
    if (gate->record[0] != '\0') {
        (void)printf(" ([record](../../%s))", gate->record);
    }
    (void)puts(" |");
}

static json_t *make_object(const struct gate_row *row)
{
    const struct gate_info *gate = row->gate;
    return json_pack("{ss ss ss ss ss ss ss ss ss}", "name", gate->env, "type",
                     type_words[gate->type], "default", row->initial, "value", row->value, "takes",
                     row->range, "when", when_words[gate->when], "status",
                     status_words[gate->status], "help", gate->help, "record", gate->record);
}

int gates_command(int argc, char **argv)
{
    enum table_form form = table_options_read(
        argc, argv,
        "Lists the settings of hakmem: name, default, what it takes and what it does. Set one in "
        "the environment, or with `hakmem run --set GATE=VALUE`.");
    struct gates values;
    gates_read(&values, environ, NULL, NULL);
    json_t *document = form == TABLE_JSON ? json_array() : NULL;
    if (form == TABLE_MARKDOWN) {
        (void)puts("| name | default | takes | read at | status | what it does |\n"
                   "|---|---|---|---|---|---|");
    }
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        struct gate_row row;
        fill_row(&row, (enum gate_id)id, &values);
        if (form == TABLE_JSON) {
            (void)json_array_append_new(document, make_object(&row));
        } else if (form == TABLE_MARKDOWN) {
            print_markdown(&row);
        } else {
            print_plain(&row);
        }
    }
    return form == TABLE_JSON ? table_print_json(document) : EXIT_SUCCESS;
}
