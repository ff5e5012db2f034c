// hardened: signal SEGV
// What the program freed is read, where it was large.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(256 << 10);
    misuse_write(block, 0, 256 << 10, 'A');
    misuse_free(block);
    return misuse_has(block, 256 << 10, 'A') ? 0 : MISUSE_HARMLESS;
}
