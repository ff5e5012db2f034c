// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a 1048575-byte block"
// The alignment leaves a byte between a large block and its guard.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc((1 << 20) - 1);
    misuse_write(block, (1 << 20) - 1, 1, '\0');
    misuse_free(block);
    return 0;
}
