// expect: abort "hakmem: double free of 0x[0-9a-f]+, a [0-9]+-byte block"
// A freed block is made longer, which frees it again.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *neighbour = misuse_malloc(100);  // keeps the slab in use
    void *block = misuse_malloc(100);
    misuse_free(block);
    void *moved = realloc(hidden_ptr(block), hidden(5000));
    misuse_flush();
    return moved == neighbour;
}
