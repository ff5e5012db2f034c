// Every block is aligned as its function promises, whatever its size.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEPT_COUNT = 4,  // blocks of a size held at once, so that not all are the first of a slab
    LARGEST_SHIFT = 30,
    TOUCH_SHIFT = 22,  // above, only the ends of a block are written
};

static void touch(unsigned char *block, size_t bytes)
{
    if (bytes <= 1u << TOUCH_SHIFT) {
        memset(block, 0x5A, bytes);
    } else {
        block[0] = 0x5A;
        block[bytes - 1] = 0x5A;
    }
}

static void plain_blocks_of_a_size_are_aligned_to_16(size_t bytes)
{
    void *kept[3 * KEPT_COUNT];
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        kept[3 * i] = malloc(hidden(bytes));
        kept[3 * i + 1] = calloc(1, hidden(bytes));
        kept[3 * i + 2] = realloc(NULL, hidden(bytes));
    }
    for (size_t i = 0; i < 3 * KEPT_COUNT; i++) {
        EXPECT(kept[i] != NULL && is_aligned(kept[i], 16));
        EXPECT(malloc_usable_size(kept[i]) >= bytes);
        free(kept[i]);
    }
}

static void *take_aligned(size_t way, size_t align_bytes, size_t bytes)
{
    void *block = NULL;
    switch (way) {
    case 0:
        return aligned_alloc(align_bytes, hidden(bytes));
    case 1:
        return memalign(align_bytes, hidden(bytes));
    default:
        return posix_memalign(&block, align_bytes, hidden(bytes)) == 0 ? block : NULL;
    }
}

static void a_block_is_aligned_as_asked(size_t align_bytes, size_t bytes)
{
    void *kept[KEPT_COUNT * 3];
    size_t count = align_bytes < 1u << TOUCH_SHIFT ? KEPT_COUNT * 3 : 3;
    for (size_t i = 0; i < count; i++) {
        kept[i] = take_aligned(i % 3, align_bytes, bytes);
        REQUIRE(kept[i] != NULL);
        EXPECT(is_aligned(kept[i], align_bytes) && is_aligned(kept[i], 16));
        EXPECT(malloc_usable_size(kept[i]) >= bytes);
        touch(kept[i], bytes);
    }
    for (size_t i = 0; i < count; i++) {
        free(kept[i]);
    }
}

static void all_alignments_work(void)
{
    for (size_t shift = 3; shift <= LARGEST_SHIFT; shift++) {
        size_t align_bytes = (size_t)1 << shift;
        a_block_is_aligned_as_asked(align_bytes, 1);
        a_block_is_aligned_as_asked(align_bytes, align_bytes / 2 + 1);
        a_block_is_aligned_as_asked(align_bytes, align_bytes);
        a_block_is_aligned_as_asked(align_bytes, align_bytes + 1);
        a_block_is_aligned_as_asked(align_bytes, 3 * align_bytes);
    }
    for (size_t bytes = 0; bytes < 5000; bytes += 7) {
        a_block_is_aligned_as_asked(64, bytes);
        a_block_is_aligned_as_asked(4096, bytes);
    }
}

static void an_aligned_block_can_be_reallocated(void)
{
    for (size_t shift = 3; shift <= 24; shift++) {
        unsigned char *block = aligned_alloc((size_t)1 << shift, hidden(1000));
        REQUIRE(block != NULL);
        memset(block, (int)shift, 1000);
        block = realloc(block, hidden(100000));
        REQUIRE(block != NULL);
        EXPECT(is_aligned(block, 16) && block[0] == shift && block[999] == shift);
        free(block);
    }
}

int main(void)
{
    (void)alarm(60);
    for (size_t bytes = 0; bytes <= 4096; bytes++) {
        plain_blocks_of_a_size_are_aligned_to_16(bytes);
    }
    for (size_t bytes = 4096; bytes <= 1 << 20; bytes += bytes / 64 + 1) {
        plain_blocks_of_a_size_are_aligned_to_16(bytes);
    }
    all_alignments_work();
    an_aligned_block_can_be_reallocated();
    return check_result();
}
