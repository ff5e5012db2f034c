// A program that uses every part of the allocator, in rounds, and takes every refusal as a program
// should (piece_lot.h).  For tests in which the system refuses.
// SPDX-License-Identifier: MIT
//
// Linked with one of stress_hak.c and stress_libc.c, and with the library or hak_core.  Its own memory
// and the stacks of its threads are static, so that the address space changes only by what the
// allocator does.
#ifndef TESTS_USE_EVERYTHING_H
#define TESTS_USE_EVERYTHING_H

#include <stddef.h>

// One round: blocks of all sizes by all entry points, threads, forks, first-class heaps, limits, the
// backends, the live gates.  Everything is freed at the end.
void use_everything(size_t round);

// What the process holds after the free pages have been given back.
struct end_figures {
    size_t live_blocks;
    size_t dirty_bytes;
    size_t committed_bytes;
    size_t mapped_bytes;
    size_t rss_bytes;
    size_t vsz_bytes;
};

// Empties the caller's stock and gives all free pages back first.
struct end_figures use_everything_read_end(void);

#endif
