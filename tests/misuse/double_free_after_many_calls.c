// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 2(56|88)-byte block"
// Blocks of the size are taken and freed in between, perhaps this very one.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    CALL_COUNT = 1024
};

int main(void)
{
    void *neighbour = misuse_malloc(256);  // keeps the slab in use
    void *block = misuse_malloc(256);
    misuse_free(block);
    for (size_t i = 0; i < CALL_COUNT; i++) {
        misuse_free(misuse_malloc(256));
    }
    misuse_free(block);
    misuse_flush();
    return neighbour == NULL;
}
