// hardened: harmless
// What the program freed is read.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(256);
    misuse_write(block, 0, 256, 'A');
    misuse_free(block);
    return misuse_has(block, 256, 'A') ? 0 : MISUSE_HARMLESS;
}
