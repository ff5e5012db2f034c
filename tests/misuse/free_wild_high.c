// expect: abort "hakmem: free of 0xffffffffff601000, which is not a block"
// An address of the kernel's half.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    misuse_free((void *)hidden(0xffffffffff601000u));
    misuse_flush();
    return 0;
}
