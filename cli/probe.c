// SPDX-License-Identifier: MIT
#include "probe.h"

#include "command.h"
#include "library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef bool owns_function(const void *address);
typedef const char *version_function(void);

// In the started process: prints "<version> owner" or "<version> other", or "none".
int probe_command(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    void *owns_symbol = dlsym(RTLD_DEFAULT, "hak_owns");
    void *version_symbol = dlsym(RTLD_DEFAULT, "hak_version");
    owns_function *owns = NULL;
    version_function *version = NULL;
    memcpy(&owns, &owns_symbol, sizeof owns);
    memcpy(&version, &version_symbol, sizeof version);
    if (owns == NULL || version == NULL) {
        (void)puts("none");
        return EXIT_TOOL_FAILED;
    }
    void *block = malloc(1);
    bool is_owner = owns(block);
    free(block);
    (void)printf("%s %s\n", version(), is_owner ? "owner" : "other");
    return is_owner ? EXIT_SUCCESS : EXIT_TOOL_FAILED;
}

// Without the program's settings: the probe asks for the library, not for the gates.
static _Noreturn void become_probe(const char *path, int out)
{
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(out, STDERR_FILENO);
    (void)unsetenv("HAKMEM_VERBOSE");
    (void)unsetenv("HAKMEM_STATS");
    if (library_preload(path)) {
        (void)execl("/proc/self/exe", "hakmem", "probe", (char *)NULL);
    }
    _exit(EXIT_NOT_FOUND);
}

static void read_all(int in, char text[PROBE_TEXT_BYTES])
{
    size_t length = 0;
    ssize_t got = 0;
    while (length + 1 < PROBE_TEXT_BYTES &&
           (got = read(in, text + length, PROBE_TEXT_BYTES - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
}

// The last line is the probe's own; what stands before it is the loader's.
static void read_answer(char *text, struct probe_result *result)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n') {
        text[--length] = '\0';
    }
    char *line = strrchr(text, '\n');
    line = line != NULL ? line + 1 : text;
    char owner[8] = "";
    result->is_loaded = sscanf(line, "%63s %7s", result->version, owner) == 2 &&
                        (strcmp(owner, "owner") == 0 || strcmp(owner, "other") == 0);
    result->is_owner = result->is_loaded && strcmp(owner, "owner") == 0;
    if (!result->is_loaded) {
        result->version[0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(result->message, sizeof result->message, "%s",
                       strcmp(text, "none") == 0 ? "" : text);
    }
}

bool probe_run(const char *path, struct probe_result *result)
{
    int ends[2];
    memset(result, 0, sizeof *result);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        become_probe(path, ends[1]);
    }
    (void)close(ends[1]);
    char text[PROBE_TEXT_BYTES] = "";
    int wait_status = 0;
    if (pid > 0) {
        read_all(ends[0], text);
        (void)waitpid(pid, &wait_status, 0);
        if (WIFSIGNALED(wait_status)) {
            (void)snprintf(text, sizeof text, "it was ended by signal %d", WTERMSIG(wait_status));
        }
        read_answer(text, result);
    }
    (void)close(ends[0]);
    return result->is_owner;
}
