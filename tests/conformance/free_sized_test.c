// C23's sized frees take any size without harm: the sizes are hints.  A hardened process dies of a wrong
// one, so there the right ones are tested.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 500
};

static struct {
    void (*free_sized)(void *block, size_t bytes);
    void (*free_aligned_sized)(void *block, size_t align_bytes, size_t bytes);
    void (*cfree)(void *block);
} release;

static void the_right_size_is_taken(size_t bytes)
{
    for (size_t align_bytes = 16; align_bytes <= 4096; align_bytes *= 4) {
        release.free_sized(malloc(hidden(bytes)), bytes);
        release.free_sized(calloc(hidden(bytes), 1), bytes);
        release.free_sized(realloc(malloc(hidden(bytes) + 30), bytes), bytes);
        release.free_sized(realloc(malloc(hidden(bytes) / 2), bytes), bytes);
        release.free_aligned_sized(aligned_alloc(align_bytes, hidden(bytes)), align_bytes, bytes);
        void *block = malloc(hidden(bytes));
        release.free_sized(block, malloc_usable_size(block));
    }
}

static void a_wrong_size_does_no_harm(size_t bytes, size_t wrong_bytes)
{
    unsigned char *held[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        held[i] = malloc(hidden(bytes));
        REQUIRE(held[i] != NULL);
        memset(held[i], (int)i, bytes);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i += 2) {
        if (i % 4 == 0) {
            release.free_sized(held[i], wrong_bytes);
        } else {
            release.free_aligned_sized(held[i], 64, wrong_bytes);
        }
        held[i] = malloc(hidden(wrong_bytes % 70000));
        REQUIRE(held[i] != NULL && malloc_usable_size(held[i]) >= wrong_bytes % 70000);
        memset(held[i], 0xEE, wrong_bytes % 70000);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        bool is_whole = i % 2 == 0 || (held[i][0] == (unsigned char)i &&
                                       memcmp(held[i], held[i] + 1, bytes - 1) == 0);
        EXPECT(is_whole);
        free(held[i]);
    }
}

int main(void)
{
    static const size_t sizes[] = {8, 24, 48, 100, 1000, 1025, 5000, 40000};
    enum {
        SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0])
    };
    (void)alarm(30);
    *(void **)&release.free_sized = check_symbol("free_sized");
    *(void **)&release.free_aligned_sized = check_symbol("free_aligned_sized");
    *(void **)&release.cfree = check_symbol("cfree");
    if (release.free_sized == NULL || release.free_aligned_sized == NULL || release.cfree == NULL) {
        EXPECT(!check_has_hakmem());
        check_skip("no sized free in this libc");
    }
    bool is_strict = check_gate_is("HAKMEM_HARDENED", "on");
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        the_right_size_is_taken(sizes[i]);
        for (size_t j = 0; j < SIZE_COUNT && !is_strict; j++) {
            a_wrong_size_does_no_harm(sizes[i], sizes[j]);
        }
        if (!is_strict) {
            a_wrong_size_does_no_harm(sizes[i], 0);
            a_wrong_size_does_no_harm(sizes[i], SIZE_MAX);
        }
    }
    release.free_sized(NULL, 10);
    release.free_aligned_sized(NULL, 16, 10);
    release.cfree(malloc(hidden(100)));
    return check_result();
}
