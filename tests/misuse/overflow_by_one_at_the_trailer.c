// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a 104-byte block"
// The end of a string is written behind a block that leaves no room.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(104);
    misuse_write(block, 104, 1, '\0');
    misuse_free(block);
    return 0;
}
