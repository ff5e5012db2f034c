// Says which object a process takes its malloc from: preloaded by `hakmem compare` into every run,
// behind the allocator that is being measured.
// SPDX-License-Identifier: MIT
//
// Writes two lines into the file that AB_WITNESS names, "<pid> start <object>" when the process has
// been loaded and "<pid> end <object>" when it leaves by exit.  It allocates nothing and interposes
// nothing, and is the same on all sides.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LINE_BYTES = PATH_MAX + 64
};

// malloc as every object in the process that asks the loader for it gets it.
static void testify(const char *moment)
{
    char line[LINE_BYTES];
    const char *path = getenv("AB_WITNESS");
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info object;
    int file = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) {
        return;
    }
    if (function != NULL && dladdr(function, &object) != 0) {
        int length =
            snprintf(line, sizeof line, "%d %s %s\n", (int)getpid(), moment, object.dli_fname);
        if (length > 0 && length < (int)sizeof line) {
            (void)!write(file, line, (size_t)length);
        }
    }
    (void)close(file);
}

__attribute__((constructor)) static void testify_at_start(void)
{
    testify("start");
}

__attribute__((destructor)) static void testify_at_end(void)
{
    testify("end");
}
