// SPDX-License-Identifier: MIT
#include "tune_candidates.h"

#include "policy/gate_text.h"
#include "policy/gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What can matter to speed or memory, and values worth a try.  The order is that in which a small
// budget takes them.  A gate, value or profile that this version doesn't know is passed over, so that
// a row may stand here before its gate does.
static const struct {
    const char *env;
    const char *values;
} rows[] = {
    {"HAKMEM_DIRTY_LIMIT", "64MiB|512MiB"},
    {"HAKMEM_BIN_BYTES", "256KiB"},
    {"HAKMEM_PROFILE", "throughput"},
    {"HAKMEM_LEARNER", "1"},
    {"HAKMEM_HUGE_PAGES", "1MiB"},
    {"HAKMEM_TINY_PROFILE", "full"},
    {"HAKMEM_HEAP_BIN_BYTES", "8MiB"},
    {"HAKMEM_DIRTY_SHARE", "50"},
    {"HAKMEM_PROFILE", "lean|many_threads"},
    {"HAKMEM_BIN_BYTES", "16KiB|1MiB"},
    {"HAKMEM_HUGE_PAGES", "off"},
    {"HAKMEM_TINY_PROFILE", "hot|off"},
    {"HAKMEM_DIRTY_LIMIT", "1MiB"},
    {"HAKMEM_DIRTY_SHARE", "2"},
    {"HAKMEM_HEAP_BIN_BYTES", "256KiB"},
    {"HAKMEM_PROFILE", "C6_HEAVY_MID_V3|C6_HEAVY_LEGACY_POOLV1|MIXED_TINYV3_C7_BALANCED"},
    {"HAKMEM_TINY_C7_ULTRA_ENABLED", "1|0"},
    {"HAKMEM_MID_V3_ENABLED", "1|0"},
    {"HAKMEM_SMALL_HEAP_V7_ENABLED", "1|0"},
    {"HAKMEM_ALLOC_GATE_SHAPE", "0|1|fused"},
};

// True when the value is one that the gate takes and doesn't have already.
static bool changes(struct gates *values, const char *env, struct slice value)
{
    char before[GATE_TEXT_BYTES];
    char after[GATE_TEXT_BYTES];
    char text[GATE_TEXT_BYTES];
    int id = gate_find(env);
    (void)snprintf(text, sizeof text, "%.*s", (int)value.length, value.start);
    if (id < 0) {
        return false;
    }
    (void)gate_format(values, (enum gate_id)id, before, sizeof before);
    if (!gate_set(values, (enum gate_id)id, text, NULL)) {
        return false;
    }
    (void)gate_format(values, (enum gate_id)id, after, sizeof after);
    return strcmp(before, after) != 0;
}

static bool add_setting(struct tune_candidate *candidate, const char *env, struct slice value)
{
    char *setting = NULL;
    if (candidate->setting_count == TUNE_SETTINGS_MOST ||
        asprintf(&setting, "%s=%.*s", env, (int)value.length, value.start) < 0) {
        return false;
    }
    candidate->settings[candidate->setting_count++] = setting;
    return true;
}

// The settings of a profile; false when it is unknown or changes nothing.
static bool add_profile(struct tune_candidate *candidate, struct slice value)
{
    char name[TUNE_LABEL_BYTES];
    struct gates values = gates_default;
    bool has_change = false;
    (void)snprintf(name, sizeof name, "%.*s", (int)value.length, value.start);
    const struct profile *profile = profile_find(name);
    struct slice rest = slice_of(profile != NULL ? profile->settings : "");
    while (rest.length > 0) {
        struct slice setting = slice_cut(&rest, ' ');
        struct slice env = slice_cut(&setting, '=');
        (void)snprintf(name, sizeof name, "%.*s", (int)env.length, env.start);
        has_change |= changes(&values, name, setting);
        if (!add_setting(candidate, name, setting)) {
            return false;
        }
    }
    return has_change;
}

static bool fill(struct tune_candidate *candidate, const char *env, struct slice value)
{
    struct gates values = gates_default;
    *candidate = (struct tune_candidate){.gate = env};
    (void)snprintf(candidate->label, sizeof candidate->label, "%s=%.*s", env, (int)value.length,
                   value.start);
    if (strcmp(env, gate_table[GATE_ID_profile].env) == 0) {
        return add_profile(candidate, value);
    }
    return changes(&values, env, value) && add_setting(candidate, env, value);
}

void tune_candidates_find(struct tune_candidates *candidates)
{
    candidates->count = 0;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct slice rest = slice_of(rows[row].values);
        while (rest.length > 0 && candidates->count < TUNE_CANDIDATES_MOST) {
            struct slice value = slice_cut(&rest, '|');
            candidates->count += fill(&candidates->list[candidates->count], rows[row].env, value);
        }
    }
}

bool tune_candidates_join(const struct tune_candidate *first, const struct tune_candidate *second,
                          struct tune_candidate *joined)
{
    *joined = *first;
    int length =
        snprintf(joined->label, sizeof joined->label, "%s + %s", first->label, second->label);
    if (length >= (int)sizeof joined->label ||
        first->setting_count + second->setting_count > TUNE_SETTINGS_MOST) {
        return false;
    }
    bool is_profile = strcmp(second->gate, gate_table[GATE_ID_profile].env) == 0;
    const struct tune_candidate *parts[] = {is_profile ? second : first,
                                            is_profile ? first : second};
    joined->setting_count = 0;
    for (size_t part = 0; part < 2; part++) {
        for (size_t i = 0; i < parts[part]->setting_count; i++) {
            joined->settings[joined->setting_count++] = parts[part]->settings[i];
        }
    }
    return true;
}
