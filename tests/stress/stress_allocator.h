// The allocator as the stress test sees it.  One of stress_libc.c and stress_hak.c is linked.
// SPDX-License-Identifier: MIT
#ifndef TESTS_STRESS_ALLOCATOR_H
#define TESTS_STRESS_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The ways to ask for an aligned block.
enum aligned_kind {
    ALIGNED_POSIX,
    ALIGNED_C11,
    ALIGNED_MEMALIGN,
    ALIGNED_VALLOC,
    ALIGNED_PVALLOC,
    ALIGNED_KIND_COUNT,
};

extern const char *const stress_allocator_name;

void *stress_malloc(size_t bytes);
void *stress_calloc(size_t count, size_t bytes);
void *stress_realloc(void *block, size_t bytes);
void *stress_reallocarray(void *block, size_t count, size_t bytes);

// Writes the alignment that the block must have, as a kind may raise it, into *align_bytes.
void *stress_aligned(enum aligned_kind kind, size_t *align_bytes, size_t bytes);

// realloc that zeroes what lies past old_bytes, or NULL where there is none.
extern void *(*const stress_rezalloc)(void *block, size_t old_bytes, size_t bytes);

void stress_free(void *block);
void stress_free_sized(void *block, size_t bytes);
size_t stress_usable_size(void *block);
size_t stress_batch_alloc(size_t bytes, void **blocks, size_t count);
void stress_batch_free(void **blocks, size_t count);

// Empties the caller's stock of free blocks; returns free memory to the system.
void stress_thread_flush(void);
void stress_trim(void);

// Sets one of the gates of the backends to a value, both drawn from `number`.  False where there are none.
bool stress_change_route(uint64_t number);

// The live blocks by the allocator's own count, or false where it cannot say it exactly.
bool stress_live_blocks(size_t *count);

#endif
