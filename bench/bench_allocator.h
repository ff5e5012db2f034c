// Which allocator serves this process, found out and not taken from what the user asked for.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_ALLOCATOR_H
#define HAK_BENCH_ALLOCATOR_H

enum {
    BENCH_NAME_BYTES = 256,
    BENCH_PATH_BYTES = 4096,
};

struct bench_allocator {
    char name[BENCH_NAME_BYTES];     // "hakmem", "glibc", ..., or the file name of the library
    char version[BENCH_NAME_BYTES];  // empty when the library doesn't tell
    char object[BENCH_PATH_BYTES];   // the file that `malloc` resolves to
};

// A name is given only with proof: the symbol `malloc` that the program calls lies in the same
// file as the functions that only this allocator has, and hakmem must besides own a fresh block.
void bench_allocator_read(struct bench_allocator *allocator);

#endif
