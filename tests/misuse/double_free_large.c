// expect: abort "hakmem: (double free of 0x[0-9a-f]+, a [0-9]+-byte block|free of 0x[0-9a-f]+, which is not a block)"
// The same large block, twice in a row; the second time it may be unknown already.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(1 << 20);
    misuse_free(block);
    misuse_free(block);
    misuse_flush();
    return 0;
}
