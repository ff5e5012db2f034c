// hardened: abort "hakmem: use of 0x[0-9a-f]+, which is not a block"
// The size of what lies some pages behind a block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    (void)malloc_usable_size(misuse_malloc(16) + hidden(16 << 10));
    return 0;
}
