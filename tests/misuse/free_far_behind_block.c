// expect: abort "hakmem: [a-z]+ of 0x[0-9a-f]+, which is not a block"
// A gigabyte behind a small block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(16);
    misuse_free(block + (1 << 30));
    misuse_flush();
    return 0;
}
