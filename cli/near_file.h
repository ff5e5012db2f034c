// Files that come with this command: in its build tree, or installed beside it.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_NEAR_FILE_H
#define HAK_CLI_NEAR_FILE_H

#include <limits.h>
#include <stdbool.h>

// The folder of this command's own file; false where the system doesn't tell.
bool near_file_folder(char folder[PATH_MAX]);

// `build_folder`: where a build tree has it, beside the folder of this command.  False when there is
// no such file that can be read.
bool near_file_find(const char *build_folder, const char *name, char path[PATH_MAX]);

#endif
