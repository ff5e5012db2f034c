// guarded: signal SEGV
// A block with pages of its own ends where the guard begins.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(96);
    misuse_write(block, (ptrdiff_t)malloc_usable_size(block), 1, 1);
    return 0;
}
