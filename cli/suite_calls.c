// SPDX-License-Identifier: MIT
#include "suite_calls.h"

#include "experiment_run.h"
#include "program_file.h"
#include "talk.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WORDS_MOST = 32
};

bool suite_calls_can_count(void)
{
    char path[PATH_MAX];
    if (!program_file_find("strace", path)) {
        talk_say("System calls are not counted: strace is not installed (Debian: apt-get install "
                 "strace).");
        return false;
    }
    return true;
}

// A line of the trace is "<pid> <name>(..."; what a process resumes, signals and ends begin otherwise.
static double count_lines(const char *path)
{
    double count = 0;
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *in = fopen(path, "re");
    while (in != NULL && getline(&line, &line_bytes, in) > 0) {
        const char *name = line + strspn(line, "0123456789 ");
        count += islower((unsigned char)*name) || *name == '_';
    }
    free(line);
    if (in != NULL) {
        (void)fclose(in);
    }
    return count;
}

// strace itself runs without the preload.
double suite_calls_count(char *const *words, const char *object)
{
    static char program[] = "strace";
    static char follow[] = "-fqq";
    static char short_texts[] = "-s0";
    static char output[] = "-o";
    static char setting[] = "-E";
    char path[64];
    char preload[PATH_MAX + sizeof "LD_PRELOAD="];
    char *all[WORDS_MOST] = {program, follow, short_texts, output, path};
    size_t count = 5;
    int file = memfd_create("trace", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    if (object != NULL) {
        (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", object);
        all[count++] = setting;
        all[count++] = preload;
    }
    for (size_t i = 0; words[i] != NULL && count + 1 < WORDS_MOST; i++) {
        all[count++] = words[i];
    }
    struct experiment_run run;
    const struct experiment_launch launch = {
        .words = all, .environment = environ, .core = RUN_CORE_ANY};
    double calls = 0;
    if (file >= 0 && experiment_run_start(&launch, &run)) {
        calls = run.start_error == 0 && run.wait_status == 0 ? count_lines(path) : 0;
        experiment_run_drop(&run);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return calls;
}
