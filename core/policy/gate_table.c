// The gates as data: what is known of each, its default, and the values in force.
// SPDX-License-Identifier: MIT
#include "policy/gate_text.h"
#include "policy/gates.h"

#include <string.h>

static const char prefix[] = "HAKMEM_";
enum {
    PREFIX_LENGTH = sizeof prefix - 1
};

// A choice starts as its first word and a text starts empty, so neither has an entry.
#define GATE_BOOL(name, env, initial, when, status, help, record)               .name = (initial),
#define GATE_COUNT(name, env, initial, least, most, when, status, help, record) .name = (initial),
#define GATE_SIZE(name, env, initial, least, most, when, status, help, record)  .name = (initial),
#define GATE_MASK(name, env, initial, most, when, status, help, record)         .name = (initial),
#define GATE_CHOICE(name, env, initial, words, when, status, help, record)
#define GATE_TEXT(name, env, when, status, help, record)
const struct gates gates_default = {
#include "policy/gates.def"
};
struct gates gates = {
#include "policy/gates.def"
};
#undef GATE_BOOL
#undef GATE_COUNT
#undef GATE_SIZE
#undef GATE_MASK
#undef GATE_CHOICE
#undef GATE_TEXT

#define ROW(gate_name, ...)                                                                        \
    [GATE_ID_##gate_name] = {.offset = offsetof(struct gates, gate_name), __VA_ARGS__}
#define ABOUT(env_name, row_when, row_status, row_help, row_record)                                \
    .env = (env_name), .when = GATE_##row_when, .status = GATE_##row_status, .help = (row_help),   \
    .record = (row_record)
#define GATE_BOOL(name, env, initial, when, status, help, record)                                  \
    ROW(name, .type = GATE_TYPE_BOOL, .most = 1, ABOUT(env, when, status, help, record)),
#define GATE_COUNT(name, env, initial, low, high, when, status, help, record)                      \
    ROW(name, .type = GATE_TYPE_COUNT, .least = (low), .most = (high),                             \
        ABOUT(env, when, status, help, record)),
#define GATE_SIZE(name, env, initial, low, high, when, status, help, record)                       \
    ROW(name, .type = GATE_TYPE_SIZE, .least = (low), .most = (high),                              \
        ABOUT(env, when, status, help, record)),
#define GATE_MASK(name, env, initial, high, when, status, help, record)                            \
    ROW(name, .type = GATE_TYPE_MASK, .most = (high), ABOUT(env, when, status, help, record)),
#define GATE_CHOICE(name, env, first, list, when, status, help, record)                            \
    ROW(name, .type = GATE_TYPE_CHOICE, .initial_word = (first), .words = (list),                  \
        ABOUT(env, when, status, help, record)),
#define GATE_TEXT(name, env, when, status, help, record)                                           \
    ROW(name, .type = GATE_TYPE_TEXT, ABOUT(env, when, status, help, record)),
const struct gate_info gate_table[GATE_COUNT_OF_ALL] = {
#include "policy/gates.def"
};
#undef GATE_BOOL
#undef GATE_COUNT
#undef GATE_SIZE
#undef GATE_MASK
#undef GATE_CHOICE
#undef GATE_TEXT

int gate_find(const char *env)
{
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        if (strcmp(gate_table[id].env, env) == 0) {
            return id;
        }
    }
    return -1;
}

// The prefix is left out of the comparison, so it may be missing: DIRTY_LIMIT is near too.
int gate_nearest(const char *env)
{
    struct slice typed = slice_of(env);
    struct slice start = {.start = env, .length = PREFIX_LENGTH};
    if (typed.length >= PREFIX_LENGTH && slice_is_any_case(start, prefix)) {
        typed.start += PREFIX_LENGTH;
        typed.length -= PREFIX_LENGTH;
    }
    int nearest = -1;
    unsigned least_distance = SLICE_FAR;
    for (int id = 0; id < GATE_COUNT_OF_ALL; id++) {
        unsigned distance = slice_distance(typed, gate_table[id].env + PREFIX_LENGTH);
        if (distance < least_distance) {
            least_distance = distance;
            nearest = id;
        }
    }
    return nearest;
}
