// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 20(000|480)-byte block"
// The same block of 20 000 bytes, twice in a row.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(20000);
    misuse_free(block);
    misuse_free(block);
    misuse_flush();
    return 0;
}
