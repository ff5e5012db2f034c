// Every name of the malloc family comes from the same library, libc's internal names included, and
// blocks pass freely between them.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What glibc has too; and what only newer ones have, so that hakmem must bring it.
static const char *const common_names[] = {
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "mallinfo",
    "mallinfo2",
    "malloc_trim",
    "mallopt",
    "malloc_stats",
    "malloc_info",
    "__libc_malloc",
    "__libc_free",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_memalign",
    "__libc_valloc",
    "__libc_pvalloc",
};

static const char *const own_names[] = {
    "cfree",
    "free_sized",
    "free_aligned_sized",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static const char *library_of(const char *name)
{
    Dl_info info;
    void *address = check_symbol(name);
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fname : "nowhere";
}

static void come_from_the_library_of_malloc(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)check_that(strcmp(library_of(names[i]), library_of("malloc")) == 0, names[i], 0,
                         "it in the library that malloc comes from");
    }
}

static void blocks_pass_between_the_names(void)
{
    void *(*internal_malloc)(size_t) = NULL;
    void *(*internal_calloc)(size_t, size_t) = NULL;
    void *(*internal_realloc)(void *, size_t) = NULL;
    void *(*internal_memalign)(size_t, size_t) = NULL;
    void (*internal_free)(void *) = NULL;
    *(void **)&internal_malloc = check_symbol("__libc_malloc");
    *(void **)&internal_calloc = check_symbol("__libc_calloc");
    *(void **)&internal_realloc = check_symbol("__libc_realloc");
    *(void **)&internal_memalign = check_symbol("__libc_memalign");
    *(void **)&internal_free = check_symbol("__libc_free");
    REQUIRE(internal_malloc && internal_calloc && internal_realloc && internal_memalign &&
            internal_free);
    for (size_t bytes = 1; bytes < 2000000; bytes = bytes * 3 + 1) {
        free(internal_malloc(bytes));
        free(internal_calloc(1, bytes));
        free(internal_memalign(128, bytes));
        free(internal_realloc(malloc(hidden(bytes)), 2 * bytes));
        internal_free(malloc(hidden(bytes)));
        internal_free(realloc(internal_malloc(bytes), hidden(bytes / 2 + 1)));
    }
}

int main(void)
{
    (void)alarm(20);
    come_from_the_library_of_malloc(common_names, sizeof(common_names) / sizeof(common_names[0]));
    if (check_has_hakmem()) {
        come_from_the_library_of_malloc(own_names, sizeof(own_names) / sizeof(own_names[0]));
    }
    blocks_pass_between_the_names();
    return check_result();
}
