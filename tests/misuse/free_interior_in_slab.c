// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// An aligned pointer into the middle of a small block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1000);
    misuse_free(block + 496);
    misuse_flush();
    return 0;
}
