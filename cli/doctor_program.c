// What doctor finds out about the library, the settings and a program.
// SPDX-License-Identifier: MIT
#include "doctor_report.h"
#include "library.h"
#include "policy/gates.h"
#include "probe.h"
#include "program_file.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_other_preloads(struct doctor_report *report)
{
    const char *rest = getenv("LD_PRELOAD");
    while (rest != NULL && *rest != '\0') {
        char path[PATH_MAX];
        size_t length = strcspn(rest, ": ");
        (void)snprintf(path, sizeof path, "%.*s", (int)length, rest);
        const char *slash = strrchr(path, '/');
        if (program_file_is_allocator(slash != NULL ? slash + 1 : path)) {
            doctor_say(report, FINDING_NOTE,
                       "LD_PRELOAD: %s is another allocator; `hakmem run` goes before it.", path);
        }
        rest += length + (rest[length] != '\0');
    }
}

void doctor_check_library(struct doctor_report *report)
{
    char path[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    struct probe_result result;
    if (!library_find(path, sentence)) {
        doctor_say(report, FINDING_PROBLEM, "library: %s", sentence);
    } else if (probe_run(path, &result)) {
        doctor_say(report, FINDING_OK, "library: %s, version %s, serves malloc when preloaded.",
                   path, result.version);
    } else if (result.is_loaded) {
        doctor_say(report, FINDING_PROBLEM,
                   "library: %s is loaded, but malloc comes from elsewhere. Look in LD_PRELOAD and "
                   "/etc/ld.so.preload for another allocator.",
                   path);
    } else if (result.message[0] != '\0') {
        doctor_say(report, FINDING_PROBLEM,
                   "library: %s cannot be preloaded (%s). Install it again, or set HAKMEM_LIBRARY "
                   "to a good one.",
                   path, result.message);
    } else {
        doctor_say(report, FINDING_PROBLEM,
                   "library: %s is not hakmem. Set HAKMEM_LIBRARY to libhakmem.so, or unset it.",
                   path);
    }
    check_other_preloads(report);
}

static void report_setting(const char *sentence, void *context)
{
    doctor_say(context, FINDING_PROBLEM, "settings: %s", sentence);
}

static void note_idle(const char *sentence, void *context)
{
    doctor_say(context, FINDING_NOTE, "settings: %s", sentence);
}

void doctor_check_settings(struct doctor_report *report)
{
    struct gates values;
    unsigned problem_count = report->problem_count;
    gates_read(&values, environ, report_setting, report);
    if (report->problem_count == problem_count) {
        doctor_say(report, FINDING_OK, "settings: the HAKMEM_ variables are all understood.");
    }
    settings_find_idle(environ, note_idle, report);
}

static void report_program(struct doctor_report *report, const struct program_file *file)
{
    const char *obstacle = program_file_obstacle(file);
    if (obstacle != NULL) {
        doctor_say(report, FINDING_PROBLEM,
                   "program: %s runs without hakmem: %s. Link it with libhakmem.a or libhakmem.so "
                   "instead.",
                   file->path, obstacle);
        return;
    }
    doctor_say(report, FINDING_OK, "program: %s is linked dynamically and can be preloaded.",
               file->path);
    if (file->allocator[0] != '\0') {
        doctor_say(report, FINDING_NOTE,
                   "program: %s is linked with %s; hakmem serves it in its place, but figures that "
                   "it asks of that library are not hakmem's.",
                   file->path, file->allocator);
    }
}

static void report_dormant_rights(struct doctor_report *report, const struct program_file *file)
{
    if (file->has_dormant_rights && !file->is_privileged) {
        doctor_say(report, FINDING_NOTE,
                   "program: %s is setuid, setgid or has file capabilities; users whom that gives "
                   "rights run it without hakmem.",
                   file->path);
    }
}

void doctor_check_program(struct doctor_report *report, const char *program)
{
    struct program_file file;
    char path[PATH_MAX];
    int error = program_file_resolve(program, &file);
    if (error != 0) {
        doctor_say(report, FINDING_PROBLEM, "program: %s cannot be examined: %s.", program,
                   error == ENOENT ? "it, or the interpreter it names, was not found"
                                   : strerror(error));
        return;
    }
    if (program_file_find(program, path) && strcmp(path, file.path) != 0) {
        doctor_say(report, FINDING_OK, "program: %s is a script that %s runs.", path, file.path);
    }
    report_program(report, &file);
    report_dormant_rights(report, &file);
}
