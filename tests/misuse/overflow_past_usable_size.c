// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a [0-9]+-byte block"
// A program that takes the usable size for what it may use writes one byte more.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(8);
    size_t bytes = malloc_usable_size(block);
    misuse_write(block, (ptrdiff_t)bytes, 1, block[hidden(bytes)] ^ 1);
    misuse_free(block);
    return 0;
}
