// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// Memory that the program took from brk itself.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    char *memory = sbrk(1 << 16);
    REQUIRE(memory != (void *)-1);
    misuse_free((char *)(((uintptr_t)memory + 1024) & ~(uintptr_t)15));
    misuse_flush();
    return 0;
}
