// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a 1-byte block"
// A block of no bytes has no room for one.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(0);
    misuse_write(block, 0, 1, 'A');
    misuse_free(block);
    return 0;
}
