// hardened: abort "hakmem: double free of 0x[0-9a-f]+, a 1-byte block"
// A block of no bytes, which messages count as one.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(0);
    misuse_free(block);
    misuse_free(block);
    _exit(0);
}
