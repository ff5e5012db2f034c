// Large blocks that change their size all the time do not shred the address space: the mappings stay
// below 1000.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 200,
    BLOCK_BYTES_LEAST = 8 << 20,
    MORE_BYTES_MOST = 23 << 20,
    ROUND_COUNT = 12000,
    MOST_MAPS = 1000,
};

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    struct random_stream random = {.state = 5};
    (void)alarm(100);
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        size_t i = random_below(&random, BLOCK_COUNT);
        size_t bytes = BLOCK_BYTES_LEAST + random_below(&random, MORE_BYTES_MOST);
        char *block = realloc(blocks[i], bytes);
        REQUIRE(block != NULL);
        REQUIRE(blocks[i] == NULL || block[0] == (char)i);
        block[0] = (char)i;
        block[bytes / 2] = 1;
        block[bytes - 1] = 1;
        blocks[i] = block;
    }
    EXPECT_AT_MOST(process_map_count(), MOST_MAPS);
    return check_result();
}
