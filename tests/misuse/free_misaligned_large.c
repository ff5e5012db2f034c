// expect: abort "hakmem: [a-z]+ of 0x[0-9a-f]+, which is not a block"
// An odd pointer into a large block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(256 << 10);
    misuse_free(block + 1);
    misuse_flush();
    return 0;
}
