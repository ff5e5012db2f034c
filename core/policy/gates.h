// Run-time switches: read from the environment once, changed afterwards only by hak_ctl_set.
// Layer: policy.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Nothing outside policy/ reads the environment.  A gate becomes data (a bound, a table entry)
// before a hot path sees it: it is consulted at start, at a thread's first allocation, or on a
// slow path.  No function here allocates, locks, or calls anything that a program may interpose
// (getenv, stdio, strtol): the first malloc of a process runs through here.
#ifndef HAK_POLICY_GATES_H
#define HAK_POLICY_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_AUTO UINT64_MAX  // the value of a GATE_SIZE set to "auto"

enum {
    GATE_TEXT_BYTES = 512,      // longest text value, NUL included; a longer one is refused
    GATE_SENTENCE_BYTES = 416,  // enough for every sentence made here
};

enum gate_type {
    GATE_TYPE_BOOL,
    GATE_TYPE_COUNT,
    GATE_TYPE_SIZE,
    GATE_TYPE_MASK,
    GATE_TYPE_CHOICE,
    GATE_TYPE_TEXT
};
enum gate_when {
    GATE_START,
    GATE_LIVE
};
enum gate_status {
    GATE_STABLE,
    GATE_RESEARCH,
    GATE_RETIRED
};

// One value for every gate.  A choice is the index of its word.
struct gates {
#define GATE_BOOL(name, env, initial, when, status, help, record)               bool name;
#define GATE_COUNT(name, env, initial, least, most, when, status, help, record) uint64_t name;
#define GATE_SIZE(name, env, initial, least, most, when, status, help, record)  uint64_t name;
#define GATE_MASK(name, env, initial, most, when, status, help, record)         uint64_t name;
#define GATE_CHOICE(name, env, initial, words, when, status, help, record)      unsigned name;
#define GATE_TEXT(name, env, when, status, help, record)                        char name[GATE_TEXT_BYTES];
#include "policy/gates.def"
#undef GATE_BOOL
#undef GATE_COUNT
#undef GATE_SIZE
#undef GATE_MASK
#undef GATE_CHOICE
#undef GATE_TEXT
};

enum gate_id {
#define GATE_BOOL(name, ...)   GATE_ID_##name,
#define GATE_COUNT(name, ...)  GATE_ID_##name,
#define GATE_SIZE(name, ...)   GATE_ID_##name,
#define GATE_MASK(name, ...)   GATE_ID_##name,
#define GATE_CHOICE(name, ...) GATE_ID_##name,
#define GATE_TEXT(name, ...)   GATE_ID_##name,
#include "policy/gates.def"
#undef GATE_BOOL
#undef GATE_COUNT
#undef GATE_SIZE
#undef GATE_MASK
#undef GATE_CHOICE
#undef GATE_TEXT
    GATE_COUNT_OF_ALL,
};

// The words of the gated front's gates, "fused|0|1": any but the first asks for that front, in which
// the first means 0 as well.
enum front_choice {
    FRONT_CHOICE_FUSED,
    FRONT_CHOICE_0,
    FRONT_CHOICE_1,
};

// What is known of a gate beside its value.
struct gate_info {
    const char *env;  // the name users write, HAKMEM_...
    enum gate_type type;
    enum gate_when when;
    enum gate_status status;
    const char *help;
    const char *record;
    size_t offset;  // of its field in struct gates
    uint64_t least;
    uint64_t most;
    const char *words;         // of a choice, separated by '|'; the first is the default
    const char *initial_word;  // of a choice, as its row gives it: the first of words
};

struct profile {
    const char *name;
    const char *settings;  // "GATE=value GATE=value"
    const char *help;
};

extern const struct gate_info gate_table[GATE_COUNT_OF_ALL];
extern const struct profile profile_table[];
extern const size_t profile_count;

// Called once per problem with a whole sentence that says what to do, without a line break and
// without "hakmem: " before it.
typedef void gates_problem(const char *sentence, void *context);

// Fills *values: defaults, then the profile that `environment` names, then its HAKMEM_ variables.
// Bad values keep the value before and are told to `problem` (NULL: nobody), unknown HAKMEM_ names
// too, with the nearest known name.  `environment` is a NULL-terminated list of NAME=value.  A profile
// with a '/' in it is a file, which is read, so the caller holds no lock.
void gates_read(struct gates *values, char *const *environment, gates_problem *problem,
                void *context);

// The gate of that environment name, or -1.
int gate_find(const char *env);

// The known gate whose name is nearest to `env`, or -1 when none is near.
int gate_nearest(const char *env);

// Sets one gate from text.  On a bad value returns false, leaves *values alone and writes a sentence
// that says what it takes into sentence[GATE_SENTENCE_BYTES] (may be NULL).
bool gate_set(struct gates *values, enum gate_id id, const char *text, char *sentence);

// Writes the value of a gate as text into value[0 .. bytes); returns the length the whole text
// needs, as snprintf does.  What it writes, gate_set reads back to the same value.
size_t gate_format(const struct gates *values, enum gate_id id, char *value, size_t bytes);

// Writes what a gate takes, for people: "on or off", "0 to 100", "a size up to 16MiB, or off".
// Returns the length that it needs, as gate_format does.
size_t gate_format_range(enum gate_id id, char *range, size_t bytes);

// The profile of that name, or NULL; the nearest one for a typing error, or NULL.
const struct profile *profile_find(const char *name);
const struct profile *profile_nearest(const char *name);

// The values that gates have when nobody sets them.
extern const struct gates gates_default;

// The value of a LIVE gate, which another thread may be setting: relaxed, it stands for itself.
static inline uint64_t gate_live(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline bool gate_is_on(const bool *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline void gate_store_live(uint64_t *value, uint64_t number)
{
    __atomic_store_n(value, number, __ATOMIC_RELAXED);
}

// The values in force in this process: the defaults until process_settle has read the environment.
// LIVE ones change later, by hak_ctl_set and hak_limit_set.
extern struct gates gates;

#endif
