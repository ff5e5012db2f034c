// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A long block of glibc's own heap, freed twice: the first free unmapped it.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <dlfcn.h>

int main(void)
{
    void *(*libc_malloc)(size_t) = NULL;
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(libc != NULL);
    *(void **)&libc_malloc = dlsym(libc, "malloc");
    REQUIRE(libc_malloc != NULL);
    void *block = libc_malloc(hidden(1 << 20));
    misuse_free(block);
    misuse_free(block);
    misuse_flush();
    return 0;
}
