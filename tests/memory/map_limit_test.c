// A program that has as many mappings as the system allows (vm.max_map_count): an allocation may fail with
// ENOMEM, a free may not, and what could not be given back then is given back once there is room.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    SPLIT_PAGES_MOST = 200000,
    SLOT_COUNT = 500,
    STEP_COUNT = 40000,
    LARGE_BYTES = 40 << 20,
    SLACK_BYTES = 16 << 20,
    LEFT_FREE_COUNT = 3,
};

static struct {
    char *blocks[SLOT_COUNT];
    size_t bytes[SLOT_COUNT];
    size_t refused_count;
} held;

// Splits a reserved range until the system refuses, then lets go of a few.
static char *use_up_mappings(size_t bytes)
{
    char *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(range != MAP_FAILED);
    for (size_t distance = 0; distance < bytes; distance += 2 * PAGE_BYTES) {
        if (mprotect(range + distance, PAGE_BYTES, PROT_READ) != 0) {
            for (size_t i = 1; i <= LEFT_FREE_COUNT; i++) {
                (void)mprotect(range + distance - i * 2 * PAGE_BYTES, PAGE_BYTES, PROT_NONE);
            }
            return range;
        }
    }
    check_skip("the system allows very many mappings");
}

static void give(size_t slot)
{
    if (held.blocks[slot] != NULL) {
        EXPECT(held.blocks[slot][0] == (char)slot &&
               held.blocks[slot][held.bytes[slot] - 1] == (char)slot);
        free(held.blocks[slot]);
        held.blocks[slot] = NULL;
    }
}

static void take(size_t slot, struct random_stream *random)
{
    size_t bytes = 1 + random_below(random, random_below(random, 30) == 0 ? LARGE_BYTES : 40000);
    errno = 0;
    char *block = malloc(bytes);
    if (block == NULL) {
        EXPECT(errno == ENOMEM);
        held.refused_count++;
        return;
    }
    block[0] = (char)slot;
    block[bytes - 1] = (char)slot;
    held.blocks[slot] = block;
    held.bytes[slot] = bytes;
}

static void work(struct random_stream *random)
{
    for (size_t i = 0; i < STEP_COUNT; i++) {
        size_t slot = random_below(random, SLOT_COUNT);
        give(slot);
        take(slot, random);
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        give(i);
    }
    (void)malloc_trim(0);
}

int main(void)
{
    struct random_stream random = {.state = 4};
    (void)alarm(100);
    work(&random);
    EXPECT(held.refused_count == 0);
    size_t calm_bytes = process_vsz_bytes();
    size_t range_bytes = (size_t)SPLIT_PAGES_MOST * PAGE_BYTES;
    char *range = use_up_mappings(range_bytes);
    work(&random);
    EXPECT(munmap(range, range_bytes) == 0);
    held.refused_count = 0;
    work(&random);
    EXPECT(held.refused_count == 0);
    EXPECT_AT_MOST(process_vsz_bytes(), calm_bytes + SLACK_BYTES);
    return check_result();
}
