// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a [0-9]+-byte block"
// One element too many.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(80);
    misuse_write(block, 0, 88, 7);
    misuse_free(block);
    return 0;
}
