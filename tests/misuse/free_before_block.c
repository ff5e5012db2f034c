// expect: abort "hakmem: [a-z]+ of 0x[0-9a-f]+, which is not a block"
// Eight bytes before a block: delete[] of what new gave, which has no count in front.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(100);
    misuse_free(block - 8);
    misuse_flush();
    return 0;
}
