// realloc keeps the content in every direction, between all kinds of blocks, aligned ones included.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t sizes[] = {
    1,      8,      15,      16,      17,      24,      31,      32,      33,     64,     100,
    128,    255,    256,     257,     511,     512,     513,     1000,    1023,   1024,   1025,
    1279,   1280,   1281,    2048,    4095,    4096,    4097,    8000,    16384,  20000,  32768,
    32769,  65535,  65536,   65537,   100000,  131072,  200000,  262143,  262144, 262145, 300000,
    524288, 524289, 1000000, 1048576, 2097151, 2097153, 3000000, 6000000,
};

enum {
    SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0])
};

// Different at every word and for every seed, and made from the offset alone.
static uint64_t word_at(size_t offset, unsigned seed)
{
    return ((offset >> 3) + seed) * 0x9E3779B97F4A7C15u;
}

static void fill(unsigned char *block, size_t bytes, unsigned seed)
{
    for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        uint64_t word = word_at(offset, seed);
        size_t left = bytes - offset;
        memcpy(block + offset, &word, left < sizeof(word) ? left : sizeof(word));
    }
}

static bool is_filled(const unsigned char *block, size_t bytes, unsigned seed)
{
    for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        uint64_t word = word_at(offset, seed);
        size_t left = bytes - offset;
        if (memcmp(block + offset, &word, left < sizeof(word) ? left : sizeof(word)) != 0) {
            return false;
        }
    }
    return true;
}

static unsigned char *resize(unsigned char *block, size_t old_bytes, size_t bytes, unsigned seed)
{
    size_t kept_bytes = old_bytes < bytes ? old_bytes : bytes;
    unsigned char *moved = realloc(block, hidden(bytes));
    REQUIRE(moved != NULL);
    EXPECT(is_aligned(moved, 16));
    EXPECT(malloc_usable_size(moved) >= bytes);
    EXPECT(is_filled(moved, kept_bytes, seed));
    return moved;
}

static void every_size_becomes_every_other(void)
{
    for (size_t from = 0; from < SIZE_COUNT; from++) {
        for (size_t to = 0; to < SIZE_COUNT; to++) {
            size_t most = sizes[from] > sizes[to] ? sizes[from] : sizes[to];
            if (most > 1000000 && (from * 7 + to) % 4 != 0) {
                continue;  // the big pairs are slow; a quarter of them will do
            }
            unsigned char *block = malloc(hidden(sizes[from]));
            REQUIRE(block != NULL);
            fill(block, sizes[from], (unsigned)from);
            block = resize(block, sizes[from], sizes[to], (unsigned)from);
            fill(block, sizes[to], (unsigned)to);
            EXPECT(is_filled(block, sizes[to], (unsigned)to));
            free(block);
        }
    }
}

static void aligned_blocks_keep_their_content(size_t align_bytes)
{
    for (size_t from = 0; from < SIZE_COUNT; from += 2) {
        for (size_t step = 1; step < SIZE_COUNT; step += 9) {
            size_t to = (from + step) % SIZE_COUNT;
            unsigned char *block = memalign(align_bytes, hidden(sizes[from]));
            REQUIRE(block != NULL && is_aligned(block, align_bytes));
            fill(block, sizes[from], (unsigned)from);
            block = resize(block, sizes[from], sizes[to], (unsigned)from);
            free(block);
        }
    }
}

static void a_walk_up_and_down_keeps_content(void)
{
    struct random_stream random = {.state = 99};
    size_t bytes = 10;
    unsigned char *block = malloc(hidden(bytes));
    unsigned char *guards[64] = {NULL};
    REQUIRE(block != NULL);
    fill(block, bytes, 5);
    for (size_t i = 0; i < 3000; i++) {
        size_t next = random_below(&random, i % 50 == 0 ? 2 << 20 : 3 * bytes % 70000 + 50) + 1;
        size_t slot = random_below(&random, 64);
        free(guards[slot]);
        guards[slot] = malloc(hidden(bytes));  // in the way of growing in place
        block = resize(block, bytes, next, 5);
        bytes = next;
        fill(block, bytes, 5);
    }
    free(block);
    for (size_t i = 0; i < 64; i++) {
        free(guards[i]);
    }
}

static void shrinking_by_little_is_cheap_in_memory(void)
{
    unsigned char *block = malloc(hidden(1 << 20));
    REQUIRE(block != NULL);
    fill(block, 1 << 20, 1);
    for (size_t bytes = 1 << 20; bytes > 1000; bytes -= bytes / 50 + 1) {
        block = resize(block, bytes, bytes - bytes / 50, 1);
        EXPECT_AT_MOST(malloc_usable_size(block), 2 * bytes + 8192);
    }
    free(block);
}

static void reallocarray_is_realloc(void)
{
    unsigned char *block = reallocarray(NULL, hidden(10), hidden(10));
    REQUIRE(block != NULL);
    fill(block, 100, 3);
    block = reallocarray(block, hidden(1000), hidden(300));
    REQUIRE(block != NULL);
    EXPECT(is_filled(block, 100, 3));
    block = reallocarray(block, hidden(5), hidden(5));
    REQUIRE(block != NULL);
    EXPECT(is_filled(block, 25, 3));
    free(block);
}

int main(void)
{
    (void)alarm(100);
    every_size_becomes_every_other();
    for (size_t align_bytes = 16; align_bytes <= 64 << 10; align_bytes *= 4) {
        aligned_blocks_keep_their_content(align_bytes);
    }
    aligned_blocks_keep_their_content(2 << 20);
    a_walk_up_and_down_keeps_content();
    shrinking_by_little_is_cheap_in_memory();
    reallocarray_is_realloc();
    return check_result();
}
