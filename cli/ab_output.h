// A file that is written whole or not at all.
// Layer: cli.  Needs: talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_OUTPUT_H
#define HAK_CLI_AB_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct ab_output {
    const char *path;
    char temporary[PATH_MAX];  // beside it
    FILE *file;
};

// False, having said why, when a file could not be written there.
bool ab_output_can_write(const char *path);

// Each returns false, having said why, and leaves nothing behind.
bool ab_output_open(struct ab_output *output, const char *path);
bool ab_output_commit(struct ab_output *output);

void ab_output_abandon(struct ab_output *output);

#endif
