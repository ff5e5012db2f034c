// SPDX-License-Identifier: MIT
#include "suite_identity.h"

#include "experiment_run.h"
#include "near_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

void suite_identity_hash(const char *path, struct suite_identity *identity)
{
    static char program[] = "sha256sum";
    static char separator[] = "--";
    char name[PATH_MAX];
    char *words[] = {program, separator, name, NULL};
    struct experiment_run run;
    struct stat status;
    const struct experiment_launch launch = {
        .words = words, .environment = environ, .core = RUN_CORE_ANY, .keeps_output = true};
    (void)snprintf(name, sizeof name, "%s", path);
    if (stat(path, &status) == 0) {
        identity->file_bytes = (size_t)status.st_size;
    }
    if (!experiment_run_start(&launch, &run)) {
        return;
    }
    if (run.start_error == 0 && run.wait_status == 0 &&
        strspn(run.output, "0123456789abcdef") == SUITE_HASH_BYTES - 1) {
        (void)snprintf(identity->sha256, SUITE_HASH_BYTES, "%s", run.output);
    }
    experiment_run_drop(&run);
}

// The workloads tell in their JSON which allocator serves them.
void suite_identity_ask(char **environment, struct suite_identity *identity)
{
    char path[PATH_MAX];
    static char one[] = "1";
    static char option[] = "--json";
    char *words[] = {path, one, one, one, option, NULL};
    struct experiment_run run;
    const struct experiment_launch launch = {
        .words = words, .environment = environment, .core = RUN_CORE_ANY, .keeps_output = true};
    if (!near_file_find("bench", "bench_random_mixed", path) ||
        !experiment_run_start(&launch, &run)) {
        return;
    }
    const char *start = strchr(run.output, '{');
    json_t *answer = start != NULL ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    const char *version = json_string_value(json_object_get(answer, "allocator_version"));
    const char *name = json_string_value(json_object_get(answer, "allocator"));
    (void)snprintf(identity->version, sizeof identity->version, "%s",
                   version != NULL ? version : "");
    identity->is_hakmem = name != NULL && strcmp(name, "hakmem") == 0;
    json_decref(answer);
    experiment_run_drop(&run);
}
