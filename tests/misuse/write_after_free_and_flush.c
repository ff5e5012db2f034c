// hardened: abort "hakmem: free block 0x[0-9a-f]+ was written after it was freed"
// The block has gone back to its slab when it is written.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_COUNT = 300
};

int main(void)
{
    unsigned char *neighbour = misuse_malloc(48);
    unsigned char *block = misuse_malloc(48);
    misuse_free(block);
    misuse_flush();
    misuse_write(block, 0, 8, 0x41);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        *misuse_malloc(48) = 1;
    }
    return neighbour == NULL;
}
