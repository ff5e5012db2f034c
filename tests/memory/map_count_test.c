// Half of many blocks freed does not shred the address space: the mappings stay below 1000.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 60000,
    BLOCK_BYTES = 20000,
    MIXED_COUNT = 1000000,
    SLOT_COUNT = 20000,
    MOST_MAPS = 1000,
    SETTLE_MS = 500,
};

static char *blocks[BLOCK_COUNT];

static void half_freed_blocks_do_not_split_mappings(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i += 2) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    sleep_ms(SETTLE_MS);
    EXPECT_AT_MOST(process_map_count(), MOST_MAPS);
}

static void mixed_work_does_not_either(void)
{
    struct random_stream random = {.state = 8};
    for (size_t i = 0; i < MIXED_COUNT; i++) {
        size_t slot = 2 * random_below(&random, SLOT_COUNT);
        size_t bytes = random_below(&random, 200) == 0 ? random_below(&random, 500000)
                                                       : random_below(&random, 3000) + 1;
        free(blocks[slot]);
        blocks[slot] = malloc(bytes);
        REQUIRE(blocks[slot] != NULL);
        *blocks[slot] = 1;
    }
    EXPECT_AT_MOST(process_map_count(), MOST_MAPS);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    EXPECT_AT_MOST(process_map_count(), MOST_MAPS);
    (void)printf("%zu mappings at the end\n", process_map_count());
}

int main(void)
{
    (void)alarm(60);
    half_freed_blocks_do_not_split_mappings();
    mixed_work_does_not_either();
    return check_result();
}
