// SPDX-License-Identifier: MIT
#include "policy/gates.h"

#include "base/text.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "policy/gate_text.h"
#include "policy/gate_value.h"

#include <string.h>

static const char prefix[] = "HAKMEM_";
enum {
    PREFIX_LENGTH = sizeof prefix - 1,
    PROFILE_FILE_BYTES = 64 << 10,  // a longer file is no profile
};

// Names that are read by the hakmem command, not here.
static const char *const command_names[] = {"HAKMEM_LIBRARY"};

// One reading of the environment.  It must stay small: it lies on the stack of the first malloc.
struct reading {
    struct gates *values;
    gates_problem *problem;
    void *context;
    bool is_seen[GATE_COUNT_OF_ALL];  // the first of two equal names wins, as with getenv
    unsigned line;                    // of the profile's file; 0 outside it
};

static int find_gate(struct slice name)
{
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        if (slice_is(name, gate_table[id].env)) {
            return id;
        }
    }
    return -1;
}

static bool is_command_name(struct slice name)
{
    for (size_t i = 0; i < sizeof command_names / sizeof command_names[0]; i++) {
        if (slice_is(name, command_names[i])) {
            return true;
        }
    }
    return false;
}

// Where in a profile's file the reading is.
static void add_place(struct text *sentence, const struct reading *reading)
{
    if (reading->line != 0) {
        gate_value_quote(sentence, slice_of(reading->values->profile));
        text_add(sentence, ", line ");
        text_add_uint(sentence, reading->line);
        text_add(sentence, ": ");
    }
}

static __attribute__((noinline)) void report_value(const struct reading *reading, enum gate_id id,
                                                   struct slice value, enum gate_verdict verdict)
{
    char sentence[GATE_SENTENCE_BYTES];
    struct text text = text_start(sentence, sizeof sentence);
    add_place(&text, reading);
    gate_value_explain(&text, id, value, verdict, reading->values);
    reading->problem(sentence, reading->context);
}

static __attribute__((noinline)) void report_name(const struct reading *reading, struct slice name)
{
    char sentence[GATE_SENTENCE_BYTES];
    char name_text[64];
    struct text start = text_start(name_text, sizeof name_text);
    text_add_bytes(&start, name.start, name.length);
    int nearest = gate_nearest(name_text);
    struct text text = text_start(sentence, sizeof sentence);
    add_place(&text, reading);
    gate_value_quote(&text, name);
    text_add(&text, " is not a setting of hakmem; ignored. ");
    if (nearest >= 0) {
        text_add(&text, "Did you mean ");
        text_add(&text, gate_table[nearest].env);
        text_add(&text, "? ");
    }
    text_add(&text, "`hakmem gates` lists them.");
    reading->problem(sentence, reading->context);
}

static void set_and_report(const struct reading *reading, enum gate_id id, struct slice value)
{
    enum gate_verdict verdict = gate_value_set(reading->values, id, value);
    if (verdict != GATE_TAKEN && reading->problem != NULL) {
        report_value(reading, id, value, verdict);
    }
}

// Takes one NAME=value.  The profile was read before the others, so it is not read again.
static void read_variable(struct reading *reading, struct slice entry)
{
    struct slice name = slice_cut(&entry, '=');
    int id = find_gate(name);
    if (id == GATE_ID_profile || is_command_name(name)) {
        return;
    }
    if (id >= 0) {
        if (!reading->is_seen[id]) {
            reading->is_seen[id] = true;
            set_and_report(reading, (enum gate_id)id, entry);
        }
    } else if (reading->problem != NULL) {
        report_name(reading, name);
    }
}

static __attribute__((noinline)) void report_line(const struct reading *reading, struct slice line,
                                                  const char *complaint)
{
    char sentence[GATE_SENTENCE_BYTES];
    struct text text = text_start(sentence, sizeof sentence);
    add_place(&text, reading);
    gate_value_quote(&text, line);
    text_add(&text, complaint);
    reading->problem(sentence, reading->context);
}

// One line of a profile's file, blanks around it taken off.
static void read_line(struct reading *reading, struct slice line)
{
    const char *complaint = NULL;
    struct slice value = line;
    struct slice name = slice_cut(&value, '=');
    if (name.length == line.length || memchr(line.start, '\0', line.length) != NULL) {
        complaint = " is not a line GATE=VALUE; ignored.";
    } else if (find_gate(name) == GATE_ID_profile) {
        complaint = " is ignored: a profile takes no other one in.";
    } else {
        read_variable(reading, line);
    }
    if (complaint != NULL && reading->problem != NULL) {
        report_line(reading, line, complaint);
    }
}

static void read_lines(struct reading *reading, struct slice rest)
{
    while (rest.length > 0) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));
        reading->line++;
        if (line.length > 0 && line.start[0] != '#') {
            read_line(reading, line);
        }
    }
    reading->line = 0;
}

// A file that can't be read as a profile counts as none.
static __attribute__((noinline)) void refuse_file(struct reading *reading, const char *complaint)
{
    char sentence[GATE_SENTENCE_BYTES];
    struct text text = text_start(sentence, sizeof sentence);
    text_add(&text, gate_table[GATE_ID_profile].env);
    text_add(&text, "=");
    gate_value_quote(&text, slice_of(reading->values->profile));
    text_add(&text, complaint);
    text_add(&text, "; ignored. Give the path of a text file of lines GATE=VALUE.");
    reading->values->profile[0] = '\0';
    if (reading->problem != NULL) {
        reading->problem(sentence, reading->context);
    }
}

static void read_file(struct reading *reading)
{
    char *text = os_map(PROFILE_FILE_BYTES, os_page_bytes());
    long length =
        text != NULL ? os_read_file(reading->values->profile, text, PROFILE_FILE_BYTES) : -1;
    if (length < 0) {
        refuse_file(reading, " cannot be read");
    } else if (length == PROFILE_FILE_BYTES) {
        refuse_file(reading, " is longer than 64KiB");
    } else {
        read_lines(reading, (struct slice){.start = text, .length = (size_t)length});
    }
    if (text != NULL) {
        (void)os_unmap(text, PROFILE_FILE_BYTES);
    }
}

static void read_profile(struct reading *reading, char *const *environment)
{
    const char *env = gate_table[GATE_ID_profile].env;
    size_t env_length = strlen(env);
    for (char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, env, env_length) == 0 && (*entry)[env_length] == '=') {
            set_and_report(reading, GATE_ID_profile, slice_of(*entry + env_length + 1));
            break;
        }
    }
    if (strchr(reading->values->profile, '/') != NULL) {
        read_file(reading);
    }
    const struct profile *profile = profile_find(reading->values->profile);
    struct slice rest = slice_of(profile != NULL ? profile->settings : "");
    while (rest.length > 0) {
        read_variable(reading, slice_cut(&rest, ' '));
    }
    memset(reading->is_seen, 0, sizeof reading->is_seen);
}

void gates_read(struct gates *values, char *const *environment, gates_problem *problem,
                void *context)
{
    struct reading reading = {.values = values, .problem = problem, .context = context};
    *values = gates_default;
    read_profile(&reading, environment);
    for (char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, prefix, PREFIX_LENGTH) == 0 && strchr(*entry, '=') != NULL) {
            read_variable(&reading, slice_of(*entry));
        }
    }
}
