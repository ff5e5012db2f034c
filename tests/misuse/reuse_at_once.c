// hardened: harmless
// The next block of a size is the one that was freed last: who still uses it shares it.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(256);
    uintptr_t address = (uintptr_t)block;
    misuse_free(block);
    return (uintptr_t)misuse_malloc(256) == address ? 0 : MISUSE_HARMLESS;
}
