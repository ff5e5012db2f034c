// A page that the program has locked in memory and not unlocked before it freed the block keeps itself
// resident, and nothing else.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 1000,
    BLOCK_BYTES = 100000,
    WAVE_COUNT = 3,
    LOCKED_BYTES = 4096,
    LEFT_BYTES = 16 << 20,
};

int main(void)
{
    static char *blocks[BLOCK_COUNT];
    (void)alarm(60);
    size_t start_bytes = process_rss_bytes();
    for (int wave = 0; wave < WAVE_COUNT; wave++) {
        for (size_t i = 0; i < BLOCK_COUNT; i++) {
            blocks[i] = malloc(hidden(BLOCK_BYTES));
            REQUIRE(blocks[i] != NULL);
            memset(blocks[i], 1, BLOCK_BYTES);
        }
        if (wave == 0) {
            REQUIRE(mlock(blocks[BLOCK_COUNT / 2], LOCKED_BYTES) == 0);
        }
        for (size_t i = 0; i < BLOCK_COUNT; i++) {
            free(blocks[i]);
        }
    }
    EXPECT(!check_has_hakmem() || process_rss_bytes() - start_bytes <= LEFT_BYTES);
    EXPECT(malloc_trim(0) == 1);
    EXPECT(process_rss_bytes() - start_bytes <= LEFT_BYTES / 4);
    return check_result();
}
