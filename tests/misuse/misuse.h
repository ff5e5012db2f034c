// What the misuse programs share.  Each breaks one rule of the heap, and its first line says how it must
// end: at once, or at the latest when the thread's stock is emptied.  They run on any allocator
// (scripts/misuse_table.sh).
// SPDX-License-Identifier: MIT
#ifndef TESTS_MISUSE_H
#define TESTS_MISUSE_H

#include "test_check.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MISUSE_HARMLESS = 3,  // the exit status of a program that gained nothing by its misuse
};

// Empties the calling thread's stock of free blocks, where every one of them is looked at.
static inline void misuse_flush(void)
{
    void (*thread_flush)(void) = NULL;
    *(void **)&thread_flush = check_symbol("hak_thread_flush");
    if (thread_flush != NULL) {
        thread_flush();
    }
    (void)malloc_trim(0);
}

// A block that the compiler knows nothing about.
static inline unsigned char *misuse_malloc(size_t bytes)
{
    unsigned char *block = hidden_ptr(malloc(hidden(bytes)));
    REQUIRE(block != NULL);
    return block;
}

static inline void misuse_free(void *block)
{
    free(hidden_ptr(block));
}

// Writes bytes at and behind block + offset, whatever the compiler thinks of it.
static inline void misuse_write(void *block, ptrdiff_t offset, size_t count, unsigned char value)
{
    volatile unsigned char *start = (volatile unsigned char *)block + offset;
    for (size_t i = 0; i < count; i++) {
        start[i] = value;
    }
}

// Is any of the bytes of a block this one?
static inline bool misuse_has(const void *block, size_t count, unsigned char value)
{
    const volatile unsigned char *start = (const volatile unsigned char *)block;
    for (size_t i = 0; i < count; i++) {
        if (start[i] == value) {
            return true;
        }
    }
    return false;
}

// A function of the allocator, without which the program can't be run.
static inline void *misuse_symbol(const char *name)
{
    void *address = check_symbol(name);
    if (address == NULL) {
        check_skip("the allocator lacks a function");
    }
    return address;
}

#endif
