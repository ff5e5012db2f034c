// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a 100-byte block"
// The end of a string is written behind its block, where the class has room.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(100);
    misuse_write(block, 100, 1, '\0');
    misuse_free(block);
    return 0;
}
