// expect: signal SEGV
// All that lies before a small block is overwritten.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(256);
    misuse_write(block, -(1 << 20), 1 << 20, 7);
    misuse_free(block);
    return 0;
}
