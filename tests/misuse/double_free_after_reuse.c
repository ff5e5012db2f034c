// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 2(56|88)-byte block"
// The block may have a new owner, who then frees it too.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(256);
    misuse_free(block);
    void *next = misuse_malloc(256);
    misuse_free(block);
    misuse_free(next);
    misuse_flush();
    return 0;
}
