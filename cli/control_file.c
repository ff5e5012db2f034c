// SPDX-License-Identifier: MIT
#include "control_file.h"

#include "policy/gates.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *control_env(void)
{
    return gate_table[GATE_ID_control].env;
}

// The value of HAKMEM_CONTROL in the environment that the process was started with; false: none.
static bool read_directory(FILE *environment, char directory[PATH_MAX])
{
    size_t env_length = strlen(control_env());
    char *entry = NULL;
    size_t capacity = 0;
    bool is_found = false;
    while (!is_found && getdelim(&entry, &capacity, '\0', environment) > 0) {
        is_found = strncmp(entry, control_env(), env_length) == 0 && entry[env_length] == '=' &&
                   snprintf(directory, PATH_MAX, "%s", entry + env_length + 1) < PATH_MAX;
    }
    free(entry);
    return is_found && directory[0] != '\0';
}

// A relative directory is relative to where the process is.
static bool find_path(pid_t pid, char path[PATH_MAX])
{
    char environment_path[64];
    char directory[PATH_MAX];
    (void)snprintf(environment_path, sizeof environment_path, "/proc/%ld/environ", (long)pid);
    FILE *environment = fopen(environment_path, "re");
    if (environment == NULL) {
        talk_say("Process %ld cannot be looked at: %s.", (long)pid,
                 errno == ENOENT ? "there is none" : strerror(errno));
        return false;
    }
    bool is_found = read_directory(environment, directory);
    (void)fclose(environment);
    if (!is_found) {
        talk_say("Process %ld was not started with %s. Start it with `hakmem run --set "
                 "control=DIRECTORY`.",
                 (long)pid, control_env());
        return false;
    }
    int length = directory[0] == '/'
                     ? snprintf(path, PATH_MAX, "%s/hakmem.%ld", directory, (long)pid)
                     : snprintf(path, PATH_MAX, "/proc/%ld/cwd/%s/hakmem.%ld", (long)pid, directory,
                                (long)pid);
    return length < PATH_MAX;
}

// Only the caller's own file, which nobody else may write, is trusted.
static bool is_trusted(int file, const char *path)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & 077) != 0 || status.st_size < (off_t)sizeof(struct control_page)) {
        talk_say("%s is not a file that hakmem made for you: it is left alone.", path);
        return false;
    }
    return true;
}

static struct control_page *map_page(int file, const char *path)
{
    void *page =
        mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED || ((struct control_page *)page)->magic != CONTROL_MAGIC) {
        talk_say("%s was made by another version of hakmem.", path);
        return NULL;
    }
    return page;
}

struct control_page *control_file_open(pid_t pid)
{
    char path[PATH_MAX];
    if (!find_path(pid, path)) {
        return NULL;
    }
    int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) {
        talk_say(
            "%s cannot be opened: %s. Does the program run on hakmem, and could it make a file "
            "there?",
            path, strerror(errno));
        return NULL;
    }
    // The descriptor stays open for the lock's sake; it ends with the process.
    if (!is_trusted(file, path) || flock(file, LOCK_EX) != 0) {
        (void)close(file);
        return NULL;
    }
    return map_page(file, path);
}

static bool wait_for_reply(const struct control_page *page, uint32_t request, double wait_seconds)
{
    enum {
        STEP_NS = 10 * 1000 * 1000
    };
    const struct timespec step = {.tv_nsec = STEP_NS};
    for (double waited = 0;; waited += STEP_NS / 1e9) {
        // Acquire: pairs with the program's release, after it wrote the status.
        if (atomic_load_explicit(&page->reply, memory_order_acquire) == request) {
            return true;
        }
        if (waited >= wait_seconds) {
            return false;
        }
        (void)nanosleep(&step, NULL);
    }
}

enum control_answer control_file_ask(struct control_page *page, const char *gate, const char *value,
                                     double wait_seconds)
{
    (void)snprintf(page->gate, sizeof page->gate, "%s", gate);
    (void)snprintf(page->value, sizeof page->value, "%s", value);
    // Release: pairs with the program's acquire, before it reads gate and value.
    uint32_t request = atomic_fetch_add_explicit(&page->request, 1, memory_order_release) + 1;
    if (!wait_for_reply(page, request, wait_seconds)) {
        return CONTROL_SILENT;
    }
    return page->status == 0 ? CONTROL_DONE : CONTROL_REFUSED;
}
