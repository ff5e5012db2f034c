// expect: abort "hakmem: free block 0x[0-9a-f]+ was written after it was freed"
// A string one block long too much runs over the free block behind it.
// SPDX-License-Identifier: MIT
#include "misuse.h"

enum {
    BLOCK_BYTES = 48,
    BLOCK_COUNT = 200,
    FREED_COUNT = 8
};

static unsigned char *blocks[BLOCK_COUNT];

// From one block to the next: the least distance of any two.
static size_t stride_bytes(void)
{
    size_t least = SIZE_MAX;
    for (size_t i = 1; i < BLOCK_COUNT; i++) {
        uintptr_t distance = (uintptr_t)blocks[i] - (uintptr_t)blocks[0];
        distance = distance > SIZE_MAX / 2 ? ~distance + 1 : distance;
        least = distance < least ? distance : least;
    }
    return least;
}

// A block whose right neighbour is a block too, or NULL.
static unsigned char *find_left_neighbour(unsigned char *right)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (blocks[i] + stride_bytes() == right) {
            return blocks[i];
        }
    }
    return NULL;
}

int main(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = misuse_malloc(BLOCK_BYTES);
    }
    size_t victim = BLOCK_COUNT / 2;
    while (find_left_neighbour(blocks[victim]) == NULL) {
        victim++;
        REQUIRE(victim < BLOCK_COUNT);
    }
    unsigned char *left = find_left_neighbour(blocks[victim]);
    // Few enough to stay in the bin, with others before and after it, so that its link matters.
    for (size_t i = 0; i < FREED_COUNT; i++) {
        unsigned char *other = blocks[i] != left ? blocks[i] : blocks[FREED_COUNT];
        misuse_free(i == FREED_COUNT / 2 ? blocks[victim] : other);
    }
    memset(left, 'x', stride_bytes() + 8);
    misuse_flush();
    return 0;
}
