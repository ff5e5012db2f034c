// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a 2(56|64)-byte block"
// All that lies behind a small block is overwritten.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(256);
    misuse_write(block, 0, 1 << 20, 7);
    misuse_free(block);
    return 0;
}
