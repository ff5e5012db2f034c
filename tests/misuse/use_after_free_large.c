// hardened: signal SEGV
// The pages of a freed large block stay shut for a while.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(1 << 20);
    misuse_write(block, 0, 1, 1);
    misuse_free(block);
    unsigned char *other = misuse_malloc(1 << 20);
    misuse_write(block, 0, 1, 1);
    return other == NULL;
}
