// expect: abort "hakmem: (double free of 0x[0-9a-f]+, a [0-9]+-byte block|free of 0x[0-9a-f]+, which is not a block)"
// Another large block is freed in between.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(256 << 10);
    void *other = misuse_malloc(256 << 10);
    misuse_free(block);
    misuse_free(other);
    misuse_free(block);
    misuse_flush();
    return 0;
}
