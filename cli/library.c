// SPDX-License-Identifier: MIT
#include "library.h"

#include "near_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const library_names[] = {"libhakmem.so.0", "libhakmem.so"};

// Seen from the folder of this command.
static const char *const near_folders[] = {HAKMEM_NEAR_LIBDIR, "../lib", "..", "."};

static bool is_usable(const char *path)
{
    return access(path, R_OK) == 0;
}

static bool find_in_folder(const char *folder, char path[PATH_MAX])
{
    for (size_t i = 0; i < sizeof library_names / sizeof library_names[0]; i++) {
        char candidate[PATH_MAX];
        int length = snprintf(candidate, sizeof candidate, "%s/%s", folder, library_names[i]);
        if (length < (int)sizeof candidate && is_usable(candidate)) {
            return realpath(candidate, path) != NULL;
        }
    }
    return false;
}

static bool find_near_command(char path[PATH_MAX])
{
    char own[PATH_MAX];
    if (!near_file_folder(own)) {
        return false;
    }
    for (size_t i = 0; i < sizeof near_folders / sizeof near_folders[0]; i++) {
        char folder[PATH_MAX];
        int folder_length = snprintf(folder, sizeof folder, "%s/%s", own, near_folders[i]);
        if (folder_length < (int)sizeof folder && find_in_folder(folder, path)) {
            return true;
        }
    }
    return false;
}

static bool find_named(const char *named, char path[PATH_MAX], char *sentence)
{
    if (is_usable(named) && realpath(named, path) != NULL) {
        return true;
    }
    (void)snprintf(sentence, LIBRARY_SENTENCE_BYTES,
                   "HAKMEM_LIBRARY=%s cannot be read: %s. Give the path of libhakmem.so, or unset "
                   "it to have it looked for.",
                   named, strerror(errno));
    return false;
}

bool library_find(char path[PATH_MAX], char sentence[LIBRARY_SENTENCE_BYTES])
{
    const char *named = getenv("HAKMEM_LIBRARY");
    if (named != NULL && named[0] != '\0') {
        if (!find_named(named, path, sentence)) {
            return false;
        }
    } else if (!find_near_command(path) && !find_in_folder(HAKMEM_INSTALL_LIBDIR, path)) {
        (void)snprintf(sentence, LIBRARY_SENTENCE_BYTES,
                       "libhakmem.so was not found near this command nor in %s. Install it, or "
                       "set HAKMEM_LIBRARY to its path.",
                       HAKMEM_INSTALL_LIBDIR);
        return false;
    }
    if (strpbrk(path, ": ") != NULL) {
        (void)snprintf(sentence, LIBRARY_SENTENCE_BYTES,
                       "%s cannot be preloaded: its path has a space or a colon in it, which "
                       "LD_PRELOAD cannot express. Move it, or link to it from elsewhere.",
                       path);
        return false;
    }
    return true;
}

bool library_preload(const char *path)
{
    const char *present = getenv("LD_PRELOAD");
    if (present == NULL || present[0] == '\0') {
        return setenv("LD_PRELOAD", path, 1) == 0;
    }
    char *joined = NULL;
    if (asprintf(&joined, "%s:%s", path, present) < 0) {
        return false;
    }
    bool is_set = setenv("LD_PRELOAD", joined, 1) == 0;
    free(joined);
    return is_set;
}
