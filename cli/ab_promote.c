// SPDX-License-Identifier: MIT
#include "ab_promote.h"

#include "ab_output.h"
#include "talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETTINGS_BYTES = 4096,
    TABLE_BYTES = 1 << 20,
};

// profiles.def as text, and where the settings of one row stand in it.
struct preset_table {
    char path[PATH_MAX];
    char *text;
    size_t row;             // offset of PROFILE(
    size_t settings;        // offset of the first letter within the quotes
    size_t settings_bytes;  //
};

static bool find_path(const char *source, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/core/policy/profiles.def", source) < PATH_MAX;
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = in != NULL ? calloc(1, TABLE_BYTES) : NULL;
    if (text != NULL && (fread(text, 1, TABLE_BYTES - 1, in) == 0 || ferror(in))) {
        free(text);
        text = NULL;
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return text;
}

// The settings are one string after the name: PROFILE("lean", "HAKMEM_...=1 ...", ...
static bool find_row(struct preset_table *table, const char *profile)
{
    char head[256];
    int length = snprintf(head, sizeof head, "\nPROFILE(\"%s\", \"", profile);
    const char *row = length < (int)sizeof head ? strstr(table->text, head) : NULL;
    if (row == NULL) {
        talk_say("%s has no row PROFILE(\"%s\", \"settings\", ...) to promote into.", table->path,
                 profile);
        return false;
    }
    table->row = (size_t)(row + 1 - table->text);
    table->settings = (size_t)(row + length - table->text);
    table->settings_bytes = strcspn(table->text + table->settings, "\"\n");
    const char *end = table->text + table->settings + table->settings_bytes;
    if (strncmp(end, "\",", 2) != 0) {
        talk_say("The settings of %s in %s are not one string; write them as one first.", profile,
                 table->path);
        return false;
    }
    return true;
}

static bool open_table(const struct ab_options *options, struct preset_table *table)
{
    table->text = find_path(options->source, table->path) ? read_file(table->path) : NULL;
    if (table->text == NULL) {
        talk_say("%s cannot be read: %s. Give the source tree with --source FOLDER.", table->path,
                 strerror(errno));
        return false;
    }
    if (!find_row(table, options->profile)) {
        free(table->text);
        return false;
    }
    return true;
}

// The record's path seen from the source tree.
static bool find_record(const struct ab_options *options, char record[PATH_MAX])
{
    char source[PATH_MAX];
    char folder[PATH_MAX];
    const char *slash = strrchr(options->record_path, '/');
    const char *name = slash != NULL ? slash + 1 : options->record_path;
    (void)snprintf(record, PATH_MAX, "%.*s",
                   slash != NULL ? (int)(slash - options->record_path) : 1,
                   slash != NULL ? options->record_path : ".");
    if (realpath(options->source, source) == NULL || realpath(record, folder) == NULL) {
        return false;
    }
    size_t length = strlen(source);
    if (strncmp(folder, source, length) != 0 || (folder[length] != '/' && folder[length] != '\0')) {
        return false;
    }
    const char *inside = folder + length + (folder[length] == '/');
    return snprintf(record, PATH_MAX, "%s%s%s", inside, inside[0] != '\0' ? "/" : "", name) <
           PATH_MAX;
}

// As write_table names it.
static bool names_record(const struct preset_table *table, const char *record)
{
    char end[PATH_MAX + 4];
    (void)snprintf(end, sizeof end, ": %s\n", record);
    return strstr(table->text, end) != NULL;
}

bool ab_promote_is_possible(const struct ab_options *options)
{
    struct preset_table table;
    char record[PATH_MAX];
    if (!find_record(options, record)) {
        talk_say("--markdown=%s is not in the source tree %s; a record stays with its preset, in "
                 "docs/analysis/.",
                 options->record_path, options->source);
        return false;
    }
    if (!open_table(options, &table)) {
        return false;
    }
    bool is_free = !names_record(&table, record);
    free(table.text);
    if (!is_free) {
        talk_say("%s is the record of an earlier promotion in %s. Give --markdown another name.",
                 record, table.path);
    }
    return is_free && ab_output_can_write(table.path);
}

static bool is_set_in(char *const *environment, const char *variable)
{
    for (; *environment != NULL; environment++) {
        if (strcmp(*environment, variable) == 0) {
            return true;
        }
    }
    return false;
}

// Puts NAME=value into settings that are separated by spaces, in place of an earlier value.
static bool put_setting(char settings[SETTINGS_BYTES], const char *variable)
{
    char rest[SETTINGS_BYTES];
    size_t name_length = strcspn(variable, "=") + 1;
    size_t length = 0;
    bool is_put = false;
    (void)snprintf(rest, sizeof rest, "%s", settings);
    settings[0] = '\0';
    char *state = NULL;
    for (char *word = strtok_r(rest, " ", &state); word != NULL;
         word = strtok_r(NULL, " ", &state)) {
        bool is_same = strncmp(word, variable, name_length) == 0;
        is_put |= is_same;
        length += (size_t)snprintf(settings + length, SETTINGS_BYTES - length, "%s%s",
                                   length > 0 ? " " : "", is_same ? variable : word);
    }
    if (!is_put && length < SETTINGS_BYTES) {
        length += (size_t)snprintf(settings + length, SETTINGS_BYTES - length, "%s%s",
                                   length > 0 ? " " : "", variable);
    }
    return length < SETTINGS_BYTES;
}

// The settings with what B adds to A, and the names of these for the line above.
static bool merge(const struct ab_report *report, char settings[SETTINGS_BYTES],
                  char added[SETTINGS_BYTES])
{
    char *const *a = report->comparisons[0].sides[AB_SIDE_A].environment;
    char *const *b = report->comparisons[0].sides[AB_SIDE_B].environment;
    added[0] = '\0';
    bool has_room = true;
    for (; *b != NULL && has_room; b++) {
        if (experiment_environment_is_setting(*b) && !is_set_in(a, *b)) {
            has_room = put_setting(settings, *b) && put_setting(added, *b);
        }
    }
    return has_room && added[0] != '\0';
}

static bool write_table(const struct preset_table *table, const char *settings, const char *added,
                        const char *record)
{
    struct ab_output output;
    if (!ab_output_open(&output, table->path)) {
        return false;
    }
    const char *after = table->text + table->settings + table->settings_bytes;
    (void)fprintf(output.file, "%.*s// %s: %s\n%.*s%s%s", (int)table->row, table->text, added,
                  record, (int)(table->settings - table->row), table->text + table->row, settings,
                  after);
    return ab_output_commit(&output);
}

bool ab_promote_write(const struct ab_report *report)
{
    struct preset_table table;
    char settings[SETTINGS_BYTES];
    char added[SETTINGS_BYTES];
    char record[PATH_MAX];
    const struct ab_options *options = report->options;
    if (report->comparisons[0].result.verdict != ABTEST_GO) {
        talk_say("Nothing was promoted: the verdict is %s, not GO.",
                 ab_words_verdict(report->comparisons[0].result.verdict));
        return false;
    }
    if (!find_record(options, record) || !open_table(options, &table)) {
        return false;
    }
    (void)snprintf(settings, sizeof settings, "%.*s", (int)table.settings_bytes,
                   table.text + table.settings);
    bool is_written = false;
    if (merge(report, settings, added)) {
        is_written = write_table(&table, settings, added, record);
    } else {
        talk_say("Nothing was promoted: B sets nothing that A doesn't.");
    }
    free(table.text);
    if (is_written) {
        talk_say("%s now has %s. Run scripts/make_reference.sh, the tests, and commit it with %s.",
                 options->profile, added, record);
    }
    return is_written;
}
