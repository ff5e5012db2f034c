// hardened: abort "hakmem: free with size 40 of 0x[0-9a-f]+, a 30-byte block"
// The size of the class is not the size that was asked for.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void (*free_sized)(void *block, size_t bytes) = NULL;
    *(void **)&free_sized = misuse_symbol("free_sized");
    free_sized(misuse_malloc(30), hidden(40));
    return 0;
}
