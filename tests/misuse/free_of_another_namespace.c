// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A block of the libc of another namespace, which is neither ours nor that of the libc beside us.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <dlfcn.h>

int main(void)
{
    void *(*other_malloc)(size_t) = NULL;
    void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    REQUIRE(libc != NULL);
    *(void **)&other_malloc = dlsym(libc, "malloc");
    REQUIRE(other_malloc != NULL && other_malloc != malloc);
    misuse_free(other_malloc(hidden(100)));
    misuse_flush();
    return 0;
}
