// guarded: signal SEGV
// Every block has pages of its own here; a freed one's stay shut for a while.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(100);
    misuse_write(block, 0, 1, 1);
    misuse_free(block);
    unsigned char *other = misuse_malloc(100);
    misuse_write(block, 0, 1, 1);
    return other == NULL;
}
