// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A pointer that no block begins at, odd even, between small blocks.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(100);
    misuse_free(block + 1);
    misuse_flush();
    return 0;
}
