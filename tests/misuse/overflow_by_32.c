// hardened: abort "hakmem: overflow of 0x[0-9a-f]+, a [0-9]+-byte block"
// Some elements too many, found when realloc is to make the block longer.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(3000);
    misuse_write(block, 0, 3032, 7);
    block = realloc(hidden_ptr(block), hidden(6000));
    return block == NULL;
}
