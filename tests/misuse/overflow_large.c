// hardened: signal SEGV
// A large block ends where its guard begins.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1 << 20);
    misuse_write(block, 1 << 20, 1, 1);
    return 0;
}
