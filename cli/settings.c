// SPDX-License-Identifier: MIT
#include "settings.h"

#include "policy/gates.h"
#include "talk.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    ENV_NAME_BYTES = 80
};

static const char prefix[] = "HAKMEM_";

// The environment name of a gate as written; false when it is too long to be one.
static bool spell_env_name(const char *written, size_t length, char name[ENV_NAME_BYTES])
{
    bool has_prefix = length >= strlen(prefix) && strncasecmp(written, prefix, strlen(prefix)) == 0;
    int spelt_length =
        snprintf(name, ENV_NAME_BYTES, "%s%.*s", has_prefix ? "" : prefix, (int)length, written);
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = (char)toupper((unsigned char)*letter);
    }
    return spelt_length < ENV_NAME_BYTES;
}

static bool check(enum gate_id id, const char *value)
{
    struct gates values = gates_default;
    char sentence[GATE_SENTENCE_BYTES];
    if (!gate_set(&values, id, value, sentence)) {
        talk_say("%s", sentence);
        return false;
    }
    return true;
}

static bool put(enum gate_id id, const char *value)
{
    if (!check(id, value)) {
        return false;
    }
    if (setenv(gate_table[id].env, value, 1) != 0) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    return true;
}

// The gate of GATE=value, or -1, having said that there is none.
static int find(const char *setting, size_t length)
{
    char name[ENV_NAME_BYTES];
    int id = spell_env_name(setting, length, name) ? gate_find(name) : -1;
    if (id >= 0) {
        return id;
    }
    int nearest = gate_nearest(name);
    if (nearest >= 0) {
        talk_say("%.*s is not a gate. Did you mean %s? `hakmem gates` lists them.", (int)length,
                 setting, gate_table[nearest].env);
    } else {
        talk_say("%.*s is not a gate. `hakmem gates` lists them.", (int)length, setting);
    }
    return -1;
}

bool settings_know(const char *setting)
{
    return find(setting, strcspn(setting, "=")) >= 0;
}

bool settings_set_gate(const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting) {
        talk_say("--set %s is not a setting. Give GATE=value, e.g. --set dirty_limit=16MiB.",
                 setting);
        return false;
    }
    int id = find(setting, (size_t)(equals - setting));
    if (id == GATE_ID_profile) {
        return settings_set_profile(equals + 1);
    }
    return id >= 0 && put((enum gate_id)id, equals + 1);
}

bool settings_read_live(const char *setting, enum gate_id *id, const char **value)
{
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting) {
        talk_say("%s is not a setting. Give GATE=value, e.g. dirty_limit=16MiB.", setting);
        return false;
    }
    int found = find(setting, (size_t)(equals - setting));
    if (found < 0 || !check((enum gate_id)found, equals + 1)) {
        return false;
    }
    if (gate_table[found].when != GATE_LIVE) {
        talk_say("%s is read when a program starts. Start it with `hakmem run --set %s`.",
                 gate_table[found].env, setting);
        return false;
    }
    *id = (enum gate_id)found;
    *value = equals + 1;
    return true;
}

static void say_problem(const char *sentence, void *context)
{
    bool *is_understood = context;
    talk_say("%s", sentence);
    *is_understood = false;
}

// Says what is wrong in a profile's file.
static bool check_profile_file(const char *path)
{
    struct gates values;
    char setting[PATH_MAX + ENV_NAME_BYTES];
    bool is_understood = true;
    (void)snprintf(setting, sizeof setting, "%s=%s", gate_table[GATE_ID_profile].env, path);
    gates_read(&values, (char *const[]){setting, NULL}, say_problem, &is_understood);
    return is_understood;
}

// A file is named by its whole path: the program's children may run in other folders.
bool settings_set_profile(const char *name)
{
    char path[PATH_MAX];
    if (strchr(name, '/') == NULL) {
        return put(GATE_ID_profile, name);
    }
    const char *found = realpath(name, path) != NULL ? path : name;
    return check_profile_file(found) && put(GATE_ID_profile, found);
}

void settings_complete_profile(void)
{
    char path[PATH_MAX];
    const char *name = getenv(gate_table[GATE_ID_profile].env);
    if (name != NULL && strchr(name, '/') != NULL && realpath(name, path) != NULL) {
        (void)setenv(gate_table[GATE_ID_profile].env, path, 1);
    }
}

void settings_find_idle(char *const *environment, gates_problem *tell, void *context)
{
    struct gates values;
    gates_read(&values, environment, NULL, NULL);
    if (values.mid_v3_classes != gates_default.mid_v3_classes && !values.mid_v3) {
        tell("HAKMEM_MID_V3_CLASSES has no effect without HAKMEM_MID_V3_ENABLED=on.", context);
    }
    if (values.small_heap_v7_classes != gates_default.small_heap_v7_classes &&
        !values.small_heap_v7) {
        tell("HAKMEM_SMALL_HEAP_V7_CLASSES has no effect without HAKMEM_SMALL_HEAP_V7_ENABLED=on.",
             context);
    }
    if (values.learner && values.tiny_static_route == FRONT_CHOICE_1) {
        tell("HAKMEM_LEARNER has no effect with HAKMEM_TINY_STATIC_ROUTE=1, which freezes it.",
             context);
    }
}

void settings_check(void)
{
    struct gates values;
    bool is_understood = true;
    gates_read(&values, environ, say_problem, &is_understood);
}
