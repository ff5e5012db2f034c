// SPDX-License-Identifier: MIT
#include "experiment_proof.h"

#include "command.h"
#include "experiment_environment.h"
#include "experiment_run.h"
#include "policy/gates.h"
#include "talk.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

enum {
    ENV_NAME_BYTES = 80
};

bool experiment_proof_open(struct experiment_proof *proof)
{
    proof->file = memfd_create("heap figures", MFD_CLOEXEC);
    if (proof->file < 0) {
        talk_say("No file in memory could be made: %s.", strerror(errno));
        return false;
    }
    (void)snprintf(proof->path, sizeof proof->path, "/proc/%d/fd/%d", (int)getpid(), proof->file);
    return true;
}

void experiment_proof_close(struct experiment_proof *proof)
{
    (void)close(proof->file);
}

void experiment_proof_clear(const struct experiment_proof *proof)
{
    (void)!ftruncate(proof->file, 0);
}

static size_t count_threads(const json_t *figures)
{
    return (size_t)(json_integer_value(json_object_get(figures, "heap_count")) +
                    json_integer_value(json_object_get(figures, "parked_count")));
}

bool experiment_proof_read(const struct experiment_proof *proof, pid_t pid, size_t *thread_count)
{
    bool is_proven = false;
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *in = fopen(proof->path, "re");
    *thread_count = 0;
    while (in != NULL && getline(&line, &line_bytes, in) > 0) {
        json_t *figures = json_loads(line, 0, NULL);
        is_proven |= figures != NULL;
        if (json_integer_value(json_object_get(figures, "pid")) == pid) {
            *thread_count = count_threads(figures);
        }
        json_decref(figures);
    }
    free(line);
    if (in != NULL) {
        (void)fclose(in);
    }
    return is_proven;
}

// In the started process: a line NAME=value for each name, or NAME alone for a gate that the library
// doesn't know.
int probe_gates_command(int argc, char **argv)
{
    void *symbol = dlsym(RTLD_DEFAULT, "hak_ctl_get");
    int (*ctl_get)(const char *, char *, size_t) = NULL;
    memcpy(&ctl_get, &symbol, sizeof ctl_get);
    if (ctl_get == NULL) {
        return EXIT_TOOL_FAILED;
    }
    for (int i = 1; i < argc; i++) {
        char value[GATE_TEXT_BYTES] = "";
        int error = ctl_get(argv[i], value, sizeof value);
        (void)printf(error == 0 ? "%s=%s\n" : "%s\n", argv[i], value);
    }
    return EXIT_SUCCESS;
}

// A value as the library would write it.
static bool spell_value(enum gate_id id, const char *written, char spelt[GATE_TEXT_BYTES])
{
    struct gates values = gates_default;
    if (!gate_set(&values, id, written, NULL)) {
        return false;
    }
    (void)gate_format(&values, id, spelt, GATE_TEXT_BYTES);
    return true;
}

// `answer` is a line of the probe, `set` the variable as it was set.
static bool is_in_force(const char *set, const char *answer)
{
    char name[ENV_NAME_BYTES];
    char wanted[GATE_TEXT_BYTES];
    size_t length = strcspn(set, "=");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, set);
    int id = gate_find(name);
    if (answer[length] != '=') {
        talk_say("The library doesn't know %s; it is older than this command.", name);
        return false;
    }
    if (id < 0 || !spell_value((enum gate_id)id, set + length + 1, wanted) ||
        strcmp(wanted, answer + length + 1) != 0) {
        talk_say("%s was set, but the library says %s; it is another version than this command.",
                 set, answer);
        return false;
    }
    return true;
}

static bool check_answers(char **environment, char *output)
{
    char *rest = output;
    for (; *environment != NULL; environment++) {
        if (!experiment_environment_is_setting(*environment)) {
            continue;
        }
        const char *line = strtok_r(rest, "\n", &rest);
        size_t length = strcspn(*environment, "=");
        if (line == NULL || strncmp(line, *environment, length) != 0) {
            talk_say("The library doesn't tell its settings. `hakmem doctor` tells more.");
            return false;
        }
        if (!is_in_force(*environment, line)) {
            return false;
        }
    }
    return true;
}

bool experiment_proof_check_settings(char **environment)
{
    static char own_path[] = "/proc/self/exe";
    static char probe_name[] = "probe-gates";
    char *words[GATE_COUNT_OF_ALL + 3] = {own_path, probe_name};
    size_t word_count = 2;
    for (char **variable = environment; *variable != NULL; variable++) {
        if (experiment_environment_is_setting(*variable) && word_count < GATE_COUNT_OF_ALL + 2) {
            words[word_count++] = strndup(*variable, strcspn(*variable, "="));
        }
    }
    struct experiment_run run;
    const struct experiment_launch launch = {
        .words = words, .environment = environment, .core = RUN_CORE_ANY, .keeps_output = true};
    bool has_run = experiment_run_start(&launch, &run);
    bool is_loaded = has_run && run.start_error == 0 && run.wait_status == 0;
    if (has_run && !is_loaded) {
        talk_say("The library cannot be preloaded. `hakmem doctor` tells more.");
    }
    bool is_good = is_loaded && check_answers(environment, run.output);
    experiment_run_drop(&run);
    while (word_count > 2) {
        free(words[--word_count]);
    }
    return is_good;
}
