// Where libhakmem.so lies, and how a program gets it.
// Layer: cli.  Needs: near_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_LIBRARY_H
#define HAK_CLI_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// Finds the library: the file that HAKMEM_LIBRARY names, else one beside this command (bin/ and
// lib/ of an installation, or a build tree), else the folder that it was built to be installed in.
// Returns false, with a sentence that says what to do in `sentence`, when there is none to use.
enum {
    LIBRARY_SENTENCE_BYTES = 2 * PATH_MAX
};
bool library_find(char path[PATH_MAX], char sentence[LIBRARY_SENTENCE_BYTES]);

// Puts `path` at the front of this process's LD_PRELOAD, for the program that is started next.
// What is there already stays.  Returns false when memory is out.
bool library_preload(const char *path);

#endif
