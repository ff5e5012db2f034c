// expect: abort "hakmem: double free of 0x[0-9a-f]+, a (24|32)-byte block"
// The same small block, twice in a row.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(24);
    misuse_free(block);
    misuse_free(block);
    misuse_flush();
    return 0;
}
