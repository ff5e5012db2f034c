// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A pointer into a large block, not to its start.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1 << 20);
    misuse_free(block + 4096);
    misuse_flush();
    return 0;
}
