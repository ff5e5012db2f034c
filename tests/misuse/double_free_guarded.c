// guarded: abort "hakmem: double free of 0x[0-9a-f]+, a 96-byte block"
// A block with pages of its own, which are shut when it is freed again.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(96);
    misuse_free(block);
    misuse_free(misuse_malloc(96));
    misuse_free(block);
    return 0;
}
