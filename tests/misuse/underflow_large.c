// hardened: signal SEGV
// A page before a large block is a guard.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1 << 20);
    misuse_write(block, -4096, 1, 1);
    return 0;
}
