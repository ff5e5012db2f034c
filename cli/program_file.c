// SPDX-License-Identifier: MIT
#include "program_file.h"

#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    SCRIPT_HEAD_BYTES = 256,  // the kernel looks no further for the end of "#! ..."
    SCRIPT_DEPTH_LIMIT = 5,   // nor deeper
};

static bool is_executable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_file_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/') != NULL) {
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, F_OK) == 0;
    }
    const char *folder = getenv("PATH");
    folder = folder != NULL ? folder : "/bin:/usr/bin";
    while (true) {
        size_t length = strcspn(folder, ":");
        int path_length = length == 0
                              ? snprintf(path, PATH_MAX, "./%s", name)
                              : snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name);
        if (path_length < PATH_MAX && is_executable_file(path)) {
            return true;
        }
        if (folder[length] == '\0') {
            return false;
        }
        folder += length + 1;
    }
}

// The next word of *line, ended by a NUL; NULL at the end.
static char *take_word(char **line)
{
    return strtok_r(NULL, " \t", line);
}

// `#!/usr/bin/env -S X=1 python3` runs python3; every other line runs its first word.
static void read_interpreter(char *line, char interpreter[PATH_MAX])
{
    char *rest = line + strcspn(line, "\n");
    *rest = '\0';
    rest = line;
    char *word = take_word(&rest);
    const char *base = word != NULL ? strrchr(word, '/') : NULL;
    if (base != NULL && strcmp(base, "/env") == 0) {
        do {
            word = take_word(&rest);
        } while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
    }
    (void)snprintf(interpreter, PATH_MAX, "%s", word != NULL ? word : "");
}

// A loader ignores LD_PRELOAD when the program gains rights by being started.
static void read_rights(struct program_file *file, const struct stat *status)
{
    bool is_setuid = (status->st_mode & S_ISUID) != 0;
    bool is_setgid = (status->st_mode & S_ISGID) != 0 && (status->st_mode & S_IXGRP) != 0;
    bool has_capabilities = getxattr(file->path, "security.capability", NULL, 0) > 0;
    file->has_dormant_rights = is_setuid || is_setgid || has_capabilities;
    file->is_privileged = (is_setuid && status->st_uid != getuid()) ||
                          (is_setgid && status->st_gid != getgid()) ||
                          (has_capabilities && getuid() != 0);
}

bool program_file_is_allocator(const char *name)
{
    static const char *const allocators[] = {
        "libjemalloc",        "libtcmalloc",  "libmimalloc",  "libsnmalloc", "librpmalloc",
        "libhardened_malloc", "libscudo",     "libtbbmalloc", "libHoard",    "libhoard",
        "libdlmalloc",        "libnedmalloc", "libumem",
    };
    for (size_t i = 0; i < sizeof allocators / sizeof allocators[0]; i++) {
        if (strncmp(name, allocators[i], strlen(allocators[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool keep_allocator(const char *library, void *context)
{
    struct program_file *file = context;
    if (program_file_is_allocator(library)) {
        (void)snprintf(file->allocator, sizeof file->allocator, "%s", library);
        return false;
    }
    return true;
}

static void read_elf(struct program_file *file, const struct elf_file *elf)
{
    file->is_elf = true;
    file->is_other_machine = !elf_file_is_ours(elf);
    if (!file->is_other_machine) {
        file->is_static = !elf_file_has_loader(elf);
        file->exports_malloc = elf_file_defines(elf, ELF_EXPORTED, "malloc");
        file->has_hidden_malloc = elf_file_defines(elf, ELF_ALL_SYMBOLS, "malloc");
        elf_file_for_each_needed(elf, keep_allocator, file);
    }
}

static void read_script(struct program_file *file, const struct elf_file *bytes)
{
    char head[SCRIPT_HEAD_BYTES] = "";
    size_t length = bytes->byte_count < sizeof head - 1 ? bytes->byte_count : sizeof head - 1;
    memcpy(head, bytes->bytes, length);
    if (strncmp(head, "#!", 2) == 0) {
        file->is_script = true;
        read_interpreter(head + 2, file->interpreter);
    }
}

int program_file_read(const char *path, struct program_file *file)
{
    struct stat status;
    struct elf_file elf;
    memset(file, 0, sizeof *file);
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    if (stat(path, &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode) || access(path, X_OK) != 0) {
        return EACCES;
    }
    read_rights(file, &status);
    int error = elf_file_open(&elf, path);
    if (error != 0) {
        return error;
    }
    if (elf_file_is_elf(&elf)) {
        read_elf(file, &elf);
    } else {
        read_script(file, &elf);
    }
    elf_file_close(&elf);
    return 0;
}

int program_file_resolve(const char *name, struct program_file *file)
{
    char path[PATH_MAX];
    if (!program_file_find(name, path)) {
        return ENOENT;
    }
    int error = program_file_read(path, file);
    for (int depth = 0; depth < SCRIPT_DEPTH_LIMIT && error == 0 && file->is_script; depth++) {
        if (!program_file_find(file->interpreter, path)) {
            return ENOENT;
        }
        error = program_file_read(path, file);
    }
    return error;
}

const char *program_file_obstacle(const struct program_file *file)
{
    if (!file->is_elf) {
        return "it is neither a binary nor a script that this system can read";
    }
    if (file->is_other_machine) {
        return "it is made for another machine than the library";
    }
    if (file->is_static) {
        return "it is linked statically, so there is no loader to preload anything";
    }
    if (file->is_privileged) {
        return "it is setuid, setgid or has file capabilities, so the loader ignores LD_PRELOAD";
    }
    if (file->exports_malloc) {
        return "it has a malloc of its own, which comes before any preloaded one";
    }
    if (file->has_hidden_malloc) {
        return "it was linked with a malloc inside, which it calls directly";
    }
    return NULL;
}
