// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A pointer into a block of 100 000 bytes.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(100000);
    misuse_free(block + 80000);
    misuse_flush();
    return 0;
}
