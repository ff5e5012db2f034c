// Memory that the program maps where the allocator unmapped some keeps what the program advised for it.
// SPDX-License-Identifier: MIT
#include "mapping_flags.h"
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 30,
    KEPT_EACH = 3,
    BLOCK_BYTES = 6 << 20,
    SHRUNK_BYTES = 5 << 20,
    REGION_COUNT = 40,
    REGION_BYTES = 4 << 20,
};

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    static void *regions[REGION_COUNT];
    (void)alarm(30);
    for (int i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    for (int i = 0; i < BLOCK_COUNT; i++) {
        if (i % KEPT_EACH != 0) {
            free(blocks[i]);
        }
    }
    (void)malloc_trim(0);
    for (int i = 0; i < REGION_COUNT; i++) {
        regions[i] =
            mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(regions[i] != MAP_FAILED);
        if (madvise(regions[i], REGION_BYTES, MADV_HUGEPAGE) != 0) {
            check_skip("this kernel has no transparent huge pages");
        }
    }
    for (int i = 0; i < BLOCK_COUNT; i += KEPT_EACH) {
        blocks[i] = realloc(blocks[i], hidden(SHRUNK_BYTES));
        REQUIRE(blocks[i] != NULL);
    }
    (void)malloc_trim(0);
    for (int i = 0; i < REGION_COUNT; i++) {
        EXPECT(mapping_has_flag(regions[i], " hg"));
    }
    return check_result();
}
