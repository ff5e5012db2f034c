// SPDX-License-Identifier: MIT
#include "ab_sides.h"

#include "command.h"
#include "experiment_settings.h"
#include "policy/gate_text.h"
#include "policy/gates.h"
#include "settings.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES_MOST = ABTEST_FAMILY_MOST,
    SETTING_BYTES = GATE_TEXT_BYTES + 80,
};

struct foundation {
    const struct ab_options *options;
    struct experiment_foundation environment;
};

// Settings of side B in several comparisons.
struct candidates {
    size_t count;
    char *settings[CANDIDATES_MOST];
};

// Of the settings of A or B, and one more or NULL.
static char **make_environment(const struct foundation *base,
                               const struct experiment_list *settings, char *last)
{
    char *words[EXPERIMENT_LIST_MOST + 1];
    size_t count = settings->count;
    memcpy(words, settings->words, count * sizeof words[0]);
    if (last != NULL) {
        words[count++] = last;
    }
    return experiment_settings_make(&base->environment, base->options->profile, words, count);
}

static bool fill_comparison(const struct foundation *base, const struct experiment_list *b,
                            char *last, struct ab_comparison *comparison)
{
    static const char *const names[AB_SIDE_COUNT] = {"A", "B", "A again"};
    char **environments[AB_SIDE_COUNT] = {NULL};
    for (size_t i = 0; i < AB_SIDE_COUNT; i++) {
        bool is_b = i == AB_SIDE_B;
        environments[i] = make_environment(base, is_b ? b : &base->options->a, is_b ? last : NULL);
        if (environments[i] == NULL) {
            return false;
        }
        experiment_environment_describe(environments[i], comparison->texts[i]);
    }
    if (!experiment_environment_pad(environments, AB_SIDE_COUNT)) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    for (size_t i = 0; i < AB_SIDE_COUNT; i++) {
        comparison->sides[i].name = names[i];
        comparison->sides[i].environment = environments[i];
        comparison->sides[i].must_run_hakmem = true;
    }
    return true;
}

static void add_candidate(struct candidates *candidates, enum gate_id id, struct slice value)
{
    char *setting = NULL;
    if (candidates->count < CANDIDATES_MOST &&
        asprintf(&setting, "%s=%.*s", gate_table[id].env, (int)value.length, value.start) > 0) {
        candidates->settings[candidates->count++] = setting;
    }
}

// Half and twice the value, where the gate takes them.
static void add_neighbours(struct candidates *candidates, enum gate_id id,
                           const struct gates *values)
{
    const struct gate_info *gate = &gate_table[id];
    uint64_t number = *(const uint64_t *)(const void *)((const char *)values + gate->offset);
    const uint64_t neighbours[] = {number / 2, number * 2};
    for (size_t i = 0; number != 0 && number != GATE_AUTO && i < 2; i++) {
        char text[32];
        if (neighbours[i] != 0 && neighbours[i] >= gate->least && neighbours[i] <= gate->most) {
            (void)snprintf(text, sizeof text, "%llu", (unsigned long long)neighbours[i]);
            add_candidate(candidates, id, slice_of(text));
        }
    }
}

static void add_other_words(struct candidates *candidates, enum gate_id id, const char *value)
{
    struct slice rest = slice_of(gate_table[id].words);
    while (rest.length > 0) {
        struct slice word = slice_cut(&rest, '|');
        if (!slice_is(word, value)) {
            add_candidate(candidates, id, word);
        }
    }
}

// What else a gate could be than it is on side A.
static void add_gate(struct candidates *candidates, enum gate_id id, const struct gates *values)
{
    char value[GATE_TEXT_BYTES];
    (void)gate_format(values, id, value, sizeof value);
    switch (gate_table[id].type) {
    case GATE_TYPE_BOOL:
        add_candidate(candidates, id, slice_of(strcmp(value, "on") == 0 ? "off" : "on"));
        break;
    case GATE_TYPE_CHOICE:
        add_other_words(candidates, id, value);
        break;
    case GATE_TYPE_COUNT:
    case GATE_TYPE_SIZE:
        add_neighbours(candidates, id, values);
        break;
    case GATE_TYPE_MASK:  // says what another gate is for
    case GATE_TYPE_TEXT:
        break;
    }
}

// A setting as good as any, to have the name looked at: false, having said what is wrong with it.
static int find_named_gate(const char *name)
{
    char env[80];
    bool has_prefix = strncasecmp(name, "HAKMEM_", strlen("HAKMEM_")) == 0;
    (void)snprintf(env, sizeof env, "%s%s", has_prefix ? "" : "HAKMEM_", name);
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        if (strcasecmp(env, gate_table[id].env) == 0) {
            return id;
        }
    }
    char setting[SETTING_BYTES];
    (void)snprintf(setting, sizeof setting, "%s=", name);
    (void)settings_set_gate(setting);
    return -1;
}

static bool add_named_gates(const struct experiment_list *named, const struct gates *values,
                            struct candidates *candidates)
{
    for (size_t i = 0; i < named->count; i++) {
        size_t count_before = candidates->count;
        if (strchr(named->words[i], '=') != NULL) {
            candidates->settings[candidates->count++] = named->words[i];
            continue;
        }
        int id = find_named_gate(named->words[i]);
        if (id < 0) {
            return false;
        }
        add_gate(candidates, (enum gate_id)id, values);
        if (candidates->count == count_before) {
            talk_say("%s has no other value that suggests itself. Give --gate %s=VALUE.",
                     gate_table[id].env, named->words[i]);
            return false;
        }
    }
    return true;
}

// HAKMEM_VERBOSE changes what is said, not what is done.
static void add_all_gates(const struct gates *values, struct candidates *candidates)
{
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        if (id != GATE_ID_verbose && gate_table[id].status != GATE_RETIRED) {
            add_gate(candidates, (enum gate_id)id, values);
        }
    }
}

static bool find_candidates(const struct foundation *base, struct candidates *candidates)
{
    struct gates values;
    char **environment = make_environment(base, &base->options->a, NULL);
    if (environment == NULL) {
        return false;
    }
    gates_read(&values, environment, NULL, NULL);
    experiment_environment_drop(environment);
    if (base->options->has_all_gates) {
        add_all_gates(&values, candidates);
        return true;
    }
    return add_named_gates(&base->options->gates, &values, candidates);
}

int ab_sides_make(const struct ab_options *options, const char *library, const char *proof_path,
                  struct ab_report *report)
{
    const struct foundation base = {options, {&options->common.variables, library, proof_path}};
    struct candidates candidates = {0};
    if (!options->has_b && !find_candidates(&base, &candidates)) {
        return EXIT_WRONG_USAGE;
    }
    report->comparison_count = options->has_b ? 1 : candidates.count;
    if (report->comparison_count == 0) {
        talk_say("There is no gate to try.");
        return EXIT_WRONG_USAGE;
    }
    report->comparisons = calloc(report->comparison_count, sizeof *report->comparisons);
    if (report->comparisons == NULL) {
        talk_say("Memory is out.");
        return EXIT_TOOL_FAILED;
    }
    for (size_t i = 0; i < report->comparison_count; i++) {
        const struct experiment_list *b = options->has_b ? &options->b : &options->a;
        char *last = options->has_b ? NULL : candidates.settings[i];
        if (!fill_comparison(&base, b, last, &report->comparisons[i])) {
            return EXIT_WRONG_USAGE;
        }
    }
    return EXIT_SUCCESS;
}
