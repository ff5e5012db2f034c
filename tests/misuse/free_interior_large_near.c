// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A pointer 16 bytes into a large block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1 << 20);
    misuse_free(block + 16);
    misuse_flush();
    return 0;
}
