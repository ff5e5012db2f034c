// hardened: abort "hakmem: free block 0x[0-9a-f]+ was written after it was freed"
// One byte in the middle of a freed block; it is found when the block is to be used again.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    MORE_COUNT = 20000
};

int main(void)
{
    unsigned char *block = misuse_malloc(500);
    misuse_free(block);
    misuse_write(block, 333, 1, 1);
    for (size_t i = 0; i < MORE_COUNT; i++) {
        misuse_free(misuse_malloc(500));
    }
    return 0;
}
