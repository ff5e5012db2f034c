// glibc's own heap, which goes on beside ours where somebody calls it past our names: a plug-in that was bound
// to it, or a program that asked dlsym for libc's malloc.
// Layer: backend.  Needs: base, os.
// SPDX-License-Identifier: MIT
//
// A pointer that lies in none of our blocks is taken for glibc's only when everything about it says so:
//
//   - before it stands a header as glibc writes it, of a size that ends where a block may end;
//   - it lies where such a block lies: in the memory of brk above the program's image; or in a heap of 64 MiB
//     whose head leads to an arena that leads by way of its neighbours to the main one in libc; or at the start
//     of whole pages;
//   - and glibc says that it holds so much memory in that way.  It holds none in nearly all processes.
//
// Nothing is read that can't be read.  What isn't proved is a fault like any other: a block of another
// namespace's libc, of a main arena that found no room at the break, of a glibc that lays its arenas out
// in another way.
#ifndef HAK_BACKEND_GLIBC_HEAP_H
#define HAK_BACKEND_GLIBC_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glibc_figures {
    size_t arena_bytes;   // all arenas' memory
    size_t mapped_bytes;  // blocks with mappings of their own
};

// glibc, as far as it is needed here.
struct glibc_calls {
    void (*free)(void *block);
    void (*read_figures)(struct glibc_figures *figures);
    uintptr_t image_start;  // of libc, whose main arena lies in it
    uintptr_t image_end;
};

// Makes glibc known; *calls must stay.  Without it no pointer is glibc's.
void glibc_heap_found(const struct glibc_calls *calls);

// The usable bytes of a block of glibc's, 0 for any other pointer.  The caller holds no lock.
size_t glibc_heap_usable_bytes(const void *pointer);

// Gives the block to glibc's free.  False, and nothing was done: it isn't proved to be glibc's.  The caller
// holds no lock.
bool glibc_heap_give(void *pointer);

#endif
