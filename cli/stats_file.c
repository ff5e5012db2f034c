// SPDX-License-Identifier: MIT
#include "stats_file.h"

#include "policy/gates.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROOM_BYTES = 64 << 10  // the figures of some processes
};

static const char stats_env[] = "HAKMEM_STATS";

static bool make_file(struct stats_file *file)
{
    const char *folder = getenv("TMPDIR");
    folder = (folder != NULL && folder[0] == '/') ? folder : "/tmp";
    int length = snprintf(file->path, sizeof file->path, "%s/hakmem-stats-XXXXXX", folder);
    if (length >= GATE_TEXT_BYTES) {
        talk_say("TMPDIR is too long a path to keep figures in. Set it to a shorter one.");
        return false;
    }
    int descriptor = mkstemp(file->path);
    if (descriptor < 0) {
        talk_say("%s cannot be made: %s. Set TMPDIR to a folder that can be written to.",
                 file->path, strerror(errno));
        return false;
    }
    int error = posix_fallocate(descriptor, 0, ROOM_BYTES);
    (void)!ftruncate(descriptor, 0);
    (void)close(descriptor);
    if (error != 0) {
        (void)unlink(file->path);
        talk_say("%s has no room for the figures: %s. Set TMPDIR to a folder on another disk.",
                 folder, strerror(error));
        return false;
    }
    file->is_ours = true;
    return setenv(stats_env, file->path, 1) == 0;
}

bool stats_file_open(struct stats_file *file)
{
    memset(file, 0, sizeof *file);
    const char *named = getenv(stats_env);
    if (named == NULL || named[0] == '\0') {
        return make_file(file);
    }
    struct stat status;
    (void)snprintf(file->path, sizeof file->path, "%s", named);
    file->start_offset = stat(named, &status) == 0 ? status.st_size : 0;
    return true;
}

json_t *stats_file_read(const struct stats_file *file, pid_t pid)
{
    json_t *found = NULL;
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *in = fopen(file->path, "re");
    if (in == NULL || fseeko(in, file->start_offset, SEEK_SET) != 0) {
        return NULL;
    }
    while (getline(&line, &line_bytes, in) > 0) {
        json_t *figures = json_loads(line, 0, NULL);
        if (json_integer_value(json_object_get(figures, "pid")) == pid) {
            json_decref(found);
            found = figures;
        } else {
            json_decref(figures);
        }
    }
    free(line);
    (void)fclose(in);
    return found;
}

void stats_file_close(struct stats_file *file)
{
    if (file->is_ours) {
        (void)unlink(file->path);
    }
}
