// hardened: abort "hakmem: free with size 300 of 0x[0-9a-f]+, a 290-byte block"
// realloc changed the size where the block lies.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void (*free_sized)(void *block, size_t bytes) = NULL;
    *(void **)&free_sized = misuse_symbol("free_sized");
    free_sized(realloc(misuse_malloc(300), hidden(290)), hidden(300));
    return 0;
}
