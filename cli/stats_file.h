// The file that HAKMEM_STATS names: figures of processes, one JSON object a line.
// Layer: cli.  Needs: talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_STATS_FILE_H
#define HAK_CLI_STATS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

struct stats_file {
    char path[PATH_MAX];
    bool is_ours;        // made here, and removed again
    off_t start_offset;  // lines before it are of earlier runs
};

// Has the program that is started next write its figures: into the file that HAKMEM_STATS names
// already, or else into a new one.  Returns false, having said why, when that can't be done.
bool stats_file_open(struct stats_file *file);

// The figures of the process `pid`, or NULL when it left none.  Other processes, such as the
// program's children, are left out.
json_t *stats_file_read(const struct stats_file *file, pid_t pid);

// Removes the file if it was made by stats_file_open.
void stats_file_close(struct stats_file *file);

#endif
