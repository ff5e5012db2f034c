// Which file a program's name stands for, and whether a library can be preloaded into it.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_PROGRAM_FILE_H
#define HAK_CLI_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// What a file says of itself.
struct program_file {
    char path[PATH_MAX];
    bool is_elf;
    bool is_script;           // interpreter is then the program that it is run by
    bool is_other_machine;    // 32 bits, or another processor than ours
    bool is_static;           // no loader, so nothing to preload
    bool is_privileged;       // setuid or setgid, and that gives us other rights
    bool has_dormant_rights;  // is so for other users, whoever asks
    bool exports_malloc;      // its own malloc comes before any preloaded one
    bool has_hidden_malloc;   // a malloc inside, bound when it was linked
    char allocator[64];       // the library of another allocator that it asks for, or ""
    char interpreter[PATH_MAX];
};

// Finds `name` as a shell does: a path when it has a slash, else a file in PATH.
bool program_file_find(const char *name, char path[PATH_MAX]);

// Looks into the file.  Returns 0 or an errno value.
int program_file_read(const char *path, struct program_file *file);

// The same for a program by its name, followed through scripts to the binary that runs: the last
// one read is in *file.  Returns 0 or an errno value.
int program_file_resolve(const char *name, struct program_file *file);

// Why a preloaded library is not used by this program, as the end of a sentence ("it is ..."), or
// NULL when it is used.
const char *program_file_obstacle(const struct program_file *file);

// True for the file name of an allocator that is not ours, such as libjemalloc.so.2.
bool program_file_is_allocator(const char *name);

#endif
