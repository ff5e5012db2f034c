// hardened: harmless
// The next large block is the one that was freed last.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(256 << 10);
    uintptr_t address = (uintptr_t)block;
    misuse_free(block);
    return (uintptr_t)misuse_malloc(256 << 10) == address ? 0 : MISUSE_HARMLESS;
}
