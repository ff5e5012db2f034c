// hardened: abort "hakmem: free block 0x[0-9a-f]+ was written after it was freed"
// A block of the size has been taken since; it must not be the one that is written.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    MORE_COUNT = 100000
};

int main(void)
{
    unsigned char *block = misuse_malloc(128);
    misuse_free(block);
    unsigned char *next = misuse_malloc(128);
    misuse_write(block, 65, 1, 'A');
    for (size_t i = 0; i < MORE_COUNT; i++) {
        misuse_free(misuse_malloc(128));
    }
    return next == NULL;
}
