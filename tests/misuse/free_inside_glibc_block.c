// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// The middle of a block of glibc's own heap.
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
    char *block = libc_malloc(hidden(1000));
    memset(block, 0, 1000);
    misuse_free(block + 512);
    misuse_flush();
    return 0;
}
