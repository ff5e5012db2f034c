// expect: abort "hakmem: [a-z]+ of 0x[0-9a-f]+, which is not a block"
// Memory that the program mapped and that can't be read.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
    unsigned char *mapping = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapping != MAP_FAILED);
    misuse_free(mapping + 65536);
    misuse_flush();
    return 0;
}
