// expect: missed
// A block of no bytes is read; only one without memory would tell.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(0);
    (void)*(volatile unsigned char *)block;
    misuse_free(block);
    return 0;
}
