// expect: abort "hakmem: (double )?free of 0x[0-9a-f]+, .*"
// Some pages behind a small block, where there may be others or none.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    unsigned char *block = misuse_malloc(16);
    misuse_free(block + (16 << 10));
    misuse_flush();
    return 0;
}
