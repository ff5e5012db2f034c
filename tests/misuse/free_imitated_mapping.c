// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// Memory that the program mapped and that begins like a mapped block of glibc's, of which there are none.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <sys/mman.h>

enum {
    MAPPING_BYTES = 16 << 20,
    IS_MAPPING = 2,
};

int main(void)
{
    size_t *mapping =
        mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapping != MAP_FAILED);
    mapping[1] = MAPPING_BYTES + IS_MAPPING;
    misuse_free(mapping + 2);
    misuse_flush();
    return 0;
}
