// Preloaded beside the library: a part of the process allocates from glibc's own heap, so that glibc has
// arenas and mapped blocks that a bad pointer could be taken for.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <stdlib.h>

enum {
    BLOCK_COUNT = 8
};

// Kept in use until the end.
static void *volatile blocks[BLOCK_COUNT];

__attribute__((constructor)) static void use_glibc(void)
{
    void *(*libc_malloc)(size_t) = NULL;
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&libc_malloc = libc != NULL ? dlsym(libc, "malloc") : NULL;
    if (libc_malloc == NULL || libc_malloc == malloc) {
        _Exit(3);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = libc_malloc((size_t)100 << 2 * i);
    }
}
