// SPDX-License-Identifier: MIT
#include "ab_output.h"

#include "talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *path, int error)
{
    talk_say("%s cannot be written: %s.", path, strerror(error));
    return false;
}

bool ab_output_can_write(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return refuse(path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    }
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash != NULL) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    }
    return access(folder, W_OK | X_OK) == 0 || refuse(path, errno);
}

bool ab_output_open(struct ab_output *output, const char *path)
{
    output->path = path;
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", path);
    if (length >= (int)sizeof output->temporary) {
        return refuse(path, ENAMETOOLONG);
    }
    int file = mkstemp(output->temporary);
    if (file < 0) {
        return refuse(path, errno);
    }
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(file, 0666 & ~mask);  // as if it had been opened by name
    output->file = fdopen(file, "w");
    if (output->file == NULL) {
        int error = errno;
        (void)close(file);
        (void)unlink(output->temporary);
        return refuse(path, error);
    }
    return true;
}

bool ab_output_commit(struct ab_output *output)
{
    bool is_written = !ferror(output->file) && fflush(output->file) == 0;
    is_written = fclose(output->file) == 0 && is_written;
    output->file = NULL;
    if (!is_written || rename(output->temporary, output->path) != 0) {
        int error = errno;
        (void)unlink(output->temporary);
        return refuse(output->path, error);
    }
    return true;
}

void ab_output_abandon(struct ab_output *output)
{
    (void)fclose(output->file);
    output->file = NULL;
    (void)unlink(output->temporary);
}
