// SPDX-License-Identifier: MIT
#include "experiment_witness.h"

#include "experiment_environment.h"
#include "experiment_run.h"
#include "near_file.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char witness_name[] = "allocator_witness.so";
static const char path_env[] = "AB_WITNESS";

bool experiment_witness_open(struct experiment_witness *witness)
{
    if (!near_file_find("cli", witness_name, witness->library)) {
        talk_say("%s was not found near this command. Build or install hakmem whole.",
                 witness_name);
        return false;
    }
    if (strpbrk(witness->library, ": ") != NULL) {
        talk_say("%s cannot be preloaded: its path has a space or a colon in it, which LD_PRELOAD "
                 "cannot express. Move it.",
                 witness->library);
        return false;
    }
    return experiment_proof_open(&witness->file);
}

void experiment_witness_close(struct experiment_witness *witness)
{
    experiment_proof_close(&witness->file);
}

bool experiment_witness_preload(const struct experiment_witness *witness, const char *object)
{
    char list[2 * PATH_MAX];
    (void)snprintf(list, sizeof list, "%s%s%s", object != NULL ? object : "",
                   object != NULL ? ":" : "", witness->library);
    return setenv("LD_PRELOAD", list, 1) == 0 && setenv(path_env, witness->file.path, 1) == 0;
}

void experiment_witness_clear(const struct experiment_witness *witness)
{
    experiment_proof_clear(&witness->file);
}

// The same file, by whatever name the loader knows it.
static bool is_same(const char *found, const char *object)
{
    char found_path[PATH_MAX];
    char object_path[PATH_MAX];
    return realpath(found, found_path) != NULL && realpath(object, object_path) != NULL &&
           strcmp(found_path, object_path) == 0;
}

enum witness_finding experiment_witness_read(const struct experiment_witness *witness,
                                             const char *object, char other[PATH_MAX])
{
    enum witness_finding finding = WITNESS_SILENT;
    char line[PATH_MAX + 64];
    char moment[8];
    int start = 0;
    FILE *in = fopen(witness->file.path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*d %7s %n", moment, &start) != 1) {
            continue;
        }
        if (!is_same(line + start, object)) {
            (void)snprintf(other, PATH_MAX, "%s", line + start);
            finding = WITNESS_OTHER;
        } else if (finding == WITNESS_SILENT && strcmp(moment, "end") == 0) {
            finding = WITNESS_PROVEN;
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return finding;
}

// The first line: of the process itself, at its start.
static bool read_first(const struct experiment_witness *witness, char found[PATH_MAX])
{
    char line[PATH_MAX + 64];
    int start = 0;
    FILE *in = fopen(witness->file.path, "re");
    bool is_read = in != NULL && fgets(line, sizeof line, in) != NULL;
    if (is_read) {
        line[strcspn(line, "\n")] = '\0';
        (void)sscanf(line, "%*d start %n", &start);
        (void)snprintf(found, PATH_MAX, "%s", line + start);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return is_read && start > 0;
}

bool experiment_witness_find(const struct experiment_witness *witness, const char *object,
                             char found[PATH_MAX], char message[PATH_MAX])
{
    static char own_path[] = "/proc/self/exe";
    static char help[] = "help";
    char *words[] = {own_path, help, NULL};
    struct experiment_run run;
    bool is_found = false;
    message[0] = '\0';
    experiment_witness_clear(witness);
    char **environment = NULL;
    if (experiment_witness_preload(witness, object)) {
        environment = experiment_environment_copy();
    }
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv(path_env);
    if (environment == NULL) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    const struct experiment_launch launch = {
        .words = words, .environment = environment, .core = RUN_CORE_ANY};
    if (experiment_run_start(&launch, &run)) {
        is_found = read_first(witness, found);
        experiment_run_last_line(&run, message, PATH_MAX);
    }
    experiment_run_drop(&run);
    experiment_environment_drop(environment);
    return is_found;
}
