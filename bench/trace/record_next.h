// The allocator that a program being recorded runs on: the next one in the loader's order.
// Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_RECORD_NEXT_H
#define HAK_BENCH_RECORD_NEXT_H

#include <stdbool.h>
#include <stddef.h>

// Before the first call each of these finds all of them.
struct record_next {
    void *(*malloc)(size_t bytes);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*realloc)(void *block, size_t bytes);
    void (*free)(void *block);
    void *(*memalign)(size_t align, size_t bytes);
    void *(*aligned_alloc)(size_t align, size_t bytes);
    int (*posix_memalign)(void **block, size_t align, size_t bytes);
};

extern struct record_next record_next;

// True for a block that the loader asked for while they were being found: nobody takes it back.
bool record_next_is_early(const void *block);

#endif
