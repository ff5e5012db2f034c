// Any text may stand in the environment: a gate either takes it, and then writes it back to the same
// value, or refuses it with a sentence and keeps the value it had.
// SPDX-License-Identifier: MIT
#include "policy/gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void count_problem(const char *sentence, void *context)
{
    require(strlen(sentence) > 0 && strlen(sentence) < GATE_SENTENCE_BYTES);
    (*(size_t *)context)++;
}

// What a gate takes must come back from its own text.
static void set_one_gate(enum gate_id id, const char *text)
{
    static struct gates before;
    static struct gates after;
    static struct gates again;
    char sentence[GATE_SENTENCE_BYTES] = "";
    char value[2 * GATE_TEXT_BYTES];

    gates_read(&before, (char *const[]){NULL}, NULL, NULL);
    after = before;
    if (!gate_set(&after, id, text, sentence)) {
        require(memcmp(&after, &before, sizeof(after)) == 0);
        require(sentence[0] != '\0' && memchr(sentence, '\0', sizeof(sentence)) != NULL);
        return;
    }
    require(gate_format(&after, id, value, sizeof(value)) < sizeof(value));
    again = before;
    require(gate_set(&again, id, value, NULL));
    require(memcmp((const char *)&again + gate_table[id].offset,
                   (const char *)&after + gate_table[id].offset,
                   gate_table[id].type == GATE_TYPE_BOOL ? sizeof(bool) : sizeof(unsigned)) == 0);
}

// Any bytes may stand in a profile's file.
static void read_as_profile(const uint8_t *data, size_t bytes)
{
    static struct gates values;
    char setting[64];
    size_t problem_count = 0;
    int file = memfd_create("profile", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, bytes) == (ssize_t)bytes);
    (void)snprintf(setting, sizeof(setting), "HAKMEM_PROFILE=/proc/self/fd/%d", file);
    gates_read(&values, (char *const[]){setting, NULL}, count_problem, &problem_count);
    require(values.profile[0] == '/' && problem_count <= bytes);
    (void)close(file);
}

// The first byte picks the gate; the rest is its text, a whole environment variable, and the text of a
// profile's file.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct gates values;
    if (bytes == 0) {
        return 0;
    }
    char *text = strndup((const char *)data + 1, bytes - 1);
    require(text != NULL);
    set_one_gate((enum gate_id)(data[0] % GATE_COUNT_OF_ALL), text);

    char name[64];
    (void)strcpy(name, "HAKMEM_");
    (void)strncat(name, text, sizeof(name) - 8);
    size_t problem_count = 0;
    gates_read(&values, (char *const[]){text, name, NULL}, count_problem, &problem_count);
    require(problem_count <= 4);
    read_as_profile(data + 1, bytes - 1);
    (void)gate_nearest(name);
    (void)profile_nearest(text);
    free(text);
    return 0;
}
