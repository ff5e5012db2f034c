// SPDX-License-Identifier: MIT
#include "policy/gates.h"

#include "base/text.h"
#include "policy/gate_text.h"
#include "policy/gate_value.h"

#include <string.h>

static const char prefix[] = "HAKMEM_";
enum {
    PREFIX_LENGTH = sizeof prefix - 1
};

// Names that are read by the hakmem command, not here.
static const char *const command_names[] = {"HAKMEM_LIBRARY"};

// One reading of the environment.  It must stay small: it lies on the stack of the first malloc.
struct reading {
    struct gates *values;
    gates_problem *problem;
    void *context;
    bool is_seen[GATE_COUNT_OF_ALL];  // the first of two equal names wins, as with getenv
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

static __attribute__((noinline)) void report_value(const struct reading *reading, enum gate_id id,
                                                   struct slice value, enum gate_verdict verdict)
{
    char sentence[GATE_SENTENCE_BYTES];
    struct text text = text_start(sentence, sizeof sentence);
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
