// hardened: abort "hakmem: use of 0x[0-9a-f]+, which is not a block"
// The size of a block that is freed already.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(16);
    misuse_free(block);
    (void)malloc_usable_size(hidden_ptr(block));
    return 0;
}
