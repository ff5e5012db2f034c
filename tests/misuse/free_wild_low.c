// expect: abort "hakmem: free of 0x10, which is not a block"
// A small number taken for a pointer.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    misuse_free((void *)hidden(16));
    misuse_flush();
    return 0;
}
