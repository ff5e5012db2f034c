// SPDX-License-Identifier: MIT
#include "near_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool near_file_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

bool near_file_find(const char *build_folder, const char *name, char path[PATH_MAX])
{
    // Seen from the folder of this command: a build tree, an installation, all in one folder.
    const char *const folders[] = {build_folder, HAKMEM_NEAR_LIBEXECDIR, "."};
    static const char *const ways[] = {"../", "", ""};
    char own[PATH_MAX];
    if (!near_file_folder(own)) {
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char candidate[PATH_MAX];
        int path_length =
            snprintf(candidate, sizeof candidate, "%s/%s%s/%s", own, ways[i], folders[i], name);
        if (path_length < PATH_MAX && access(candidate, R_OK) == 0) {
            return realpath(candidate, path) != NULL;
        }
    }
    return false;
}
