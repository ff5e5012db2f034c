// `hakmem profiles`: the named sets of settings.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "policy/gate_text.h"
#include "policy/gates.h"
#include "table_options.h"

#include <stdio.h>
#include <stdlib.h>

static void print_plain(const struct profile *profile)
{
    (void)printf("%s\n    %s\n", profile->name, profile->help);
    struct slice rest = slice_of(profile->settings);
    while (rest.length > 0) {
        struct slice setting = slice_cut(&rest, ' ');
        (void)printf("    %.*s\n", (int)setting.length, setting.start);
    }
}

static void print_markdown(const struct profile *profile)
{
    (void)printf("| `%s` | ", profile->name);
    table_print_cell(stdout, profile->help);
    (void)fputs(" | ", stdout);
    struct slice rest = slice_of(profile->settings);
    if (rest.length == 0) {
        (void)fputs("none", stdout);
    }
    while (rest.length > 0) {
        struct slice setting = slice_cut(&rest, ' ');
        (void)printf("`%.*s`%s", (int)setting.length, setting.start, rest.length > 0 ? " " : "");
    }
    (void)puts(" |");
}

static json_t *make_object(const struct profile *profile)
{
    json_t *settings = json_object();
    struct slice rest = slice_of(profile->settings);
    while (rest.length > 0) {
        struct slice value = slice_cut(&rest, ' ');
        struct slice name = slice_cut(&value, '=');
        char key[80];
        (void)snprintf(key, sizeof key, "%.*s", (int)name.length, name.start);
        (void)json_object_set_new(settings, key, json_stringn(value.start, value.length));
    }
    return json_pack("{ss ss so}", "name", profile->name, "help", profile->help, "settings",
                     settings);
}

int profiles_command(int argc, char **argv)
{
    enum table_form form = table_options_read(
        argc, argv,
        "Lists the profiles: named sets of settings. Choose one with HAKMEM_PROFILE=NAME, or with "
        "`hakmem run --profile NAME`. A setting given itself wins over the profile.");
    json_t *document = form == TABLE_JSON ? json_array() : NULL;
    if (form == TABLE_MARKDOWN) {
        (void)puts("| profile | what it is for | what it sets |\n|---|---|---|");
    }
    for (size_t i = 0; i < profile_count; i++) {
        if (form == TABLE_JSON) {
            (void)json_array_append_new(document, make_object(&profile_table[i]));
        } else if (form == TABLE_MARKDOWN) {
            print_markdown(&profile_table[i]);
        } else {
            print_plain(&profile_table[i]);
        }
    }
    return form == TABLE_JSON ? table_print_json(document) : EXIT_SUCCESS;
}
