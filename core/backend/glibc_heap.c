// SPDX-License-Identifier: MIT
#include "backend/glibc_heap.h"

#include "base/bits.h"
#include "base/compiler.h"
#include "os/os_memory.h"

#include <stdatomic.h>

enum {
    BEFORE_IN_USE = 1,  // the flags in a chunk's size
    IS_MAPPING = 2,
    IS_OF_OTHER_ARENA = 4,
    ALL_FLAGS = 7,
    CHUNK_ALIGN_BYTES = 16,
    CHUNK_BYTES_LEAST = 32,
    ARENA_HEAP_BYTES = 64 << 20,  // and aligned to as much
    ARENA_OFFSET_MOST = 128,      // of an arena in its first heap
    NEXT_ARENA_OFFSET = 2160,     // of the pointer to the next arena, since glibc 2.26
    ARENA_COUNT_MOST = 8192,      // eight a processor is its own bound
};

// What glibc writes before a block.
struct chunk {
    size_t lead_bytes;  // of a mapping: from its start to the chunk
    size_t size_and_flags;
};

// What stands at the start of each heap of the arenas beside the main one.
struct arena_heap {
    uintptr_t arena;
    uintptr_t heap_before;
    size_t bytes;
};

// is_used is set when glibc has said so once.  Relaxed: it stands for itself.
static struct {
    _Atomic(const struct glibc_calls *) calls;  // published with release
    _Atomic bool is_used;
} glibc_heap;

void glibc_heap_found(const struct glibc_calls *calls)
{
    // Pairs with the acquire load in found_calls.
    atomic_store_explicit(&glibc_heap.calls, calls, memory_order_release);
}

static const struct glibc_calls *found_calls(void)
{
    return atomic_load_explicit(&glibc_heap.calls, memory_order_acquire);
}

// The chunk at a multiple of 16, all zero where nothing can be read.
static HAK_UNCHECKED struct chunk read_chunk(uintptr_t address)
{
    const struct chunk *chunk = (const void *)address;
    return os_can_read(chunk) ? *chunk : (struct chunk){0, 0};
}

static size_t chunk_bytes(const struct chunk *chunk)
{
    return chunk->size_and_flags & ~(size_t)ALL_FLAGS;
}

// Does glibc have arenas with memory?  Asked until it says yes: the question takes its locks.
static bool arenas_are_used(const struct glibc_calls *calls)
{
    if (!atomic_load_explicit(&glibc_heap.is_used, memory_order_relaxed)) {
        struct glibc_figures figures;
        calls->read_figures(&figures);
        atomic_store_explicit(&glibc_heap.is_used, figures.arena_bytes != 0, memory_order_relaxed);
    }
    return atomic_load_explicit(&glibc_heap.is_used, memory_order_relaxed);
}

// A chunk in use, at `address`, that ends before `end`, where another follows that says so.
static bool is_followed_well(const struct chunk *chunk, uintptr_t address, uintptr_t end)
{
    size_t bytes = chunk_bytes(chunk);
    if (address >= end || bytes < CHUNK_BYTES_LEAST || bytes % CHUNK_ALIGN_BYTES != 0 ||
        bytes >= end - address) {
        return false;
    }
    struct chunk next = read_chunk(address + bytes);
    return (next.size_and_flags & BEFORE_IN_USE) != 0 && chunk_bytes(&next) >= sizeof next &&
           chunk_bytes(&next) <= end - address - bytes;
}

static bool is_in_main_arena(const struct chunk *chunk, uintptr_t address)
{
    return address >= os_program_end() && is_followed_well(chunk, address, os_break());
}

static const struct arena_heap *readable_heap(uintptr_t address)
{
    const struct arena_heap *heap = (const void *)align_down(address, ARENA_HEAP_BYTES);
    return os_can_read(heap) && os_can_read(&heap->bytes) ? heap : NULL;
}

// An arena stands in its first heap, which says so.
static bool is_arena(uintptr_t address)
{
    const struct arena_heap *heap = readable_heap(address);
    return heap != NULL && heap->arena == address &&
           address - (uintptr_t)heap <= ARENA_OFFSET_MOST &&
           os_can_read((const void *)(address + NEXT_ARENA_OFFSET));
}

// All arenas are in one ring.
static bool is_in_ring_of(const struct glibc_calls *calls, uintptr_t arena)
{
    for (int count = 0; count < ARENA_COUNT_MOST; count++) {
        if (arena >= calls->image_start && arena < calls->image_end) {
            return true;
        }
        if (arena % CHUNK_ALIGN_BYTES != 0 || !is_arena(arena)) {
            return false;
        }
        arena = *(const uintptr_t *)(arena + NEXT_ARENA_OFFSET);
    }
    return false;
}

static bool is_in_other_arena(const struct glibc_calls *calls, const struct chunk *chunk,
                              uintptr_t address)
{
    const struct arena_heap *heap = readable_heap(address);
    return heap != NULL && heap->bytes <= ARENA_HEAP_BYTES &&
           is_followed_well(chunk, address, (uintptr_t)heap + heap->bytes) &&
           is_in_ring_of(calls, heap->arena);
}

// Whole pages of which the chunk is the rest.
static bool is_mapping(const struct glibc_calls *calls, const struct chunk *chunk,
                       uintptr_t address)
{
    size_t bytes = chunk_bytes(chunk);
    size_t page_bytes = os_page_bytes();
    if (bytes < CHUNK_BYTES_LEAST || chunk->lead_bytes > address ||
        (address - chunk->lead_bytes) % page_bytes != 0 ||
        (chunk->lead_bytes + bytes) % page_bytes != 0) {
        return false;
    }
    struct glibc_figures figures;
    calls->read_figures(&figures);
    return figures.mapped_bytes >= chunk->lead_bytes + bytes;
}

size_t glibc_heap_usable_bytes(const void *pointer)
{
    const struct glibc_calls *calls = found_calls();
    uintptr_t address = (uintptr_t)pointer - sizeof(struct chunk);
    if (calls == NULL || address % CHUNK_ALIGN_BYTES != 0) {
        return 0;
    }
    struct chunk chunk = read_chunk(address);
    size_t flags = chunk.size_and_flags & ALL_FLAGS;
    if ((flags & IS_MAPPING) != 0) {
        bool is_glibcs = flags == IS_MAPPING && is_mapping(calls, &chunk, address);
        return is_glibcs ? chunk_bytes(&chunk) - sizeof chunk : 0;
    }
    bool is_glibcs = (flags & IS_OF_OTHER_ARENA) != 0 ? is_in_other_arena(calls, &chunk, address)
                                                      : is_in_main_arena(&chunk, address);
    // The next chunk's first word is the block's as well.
    return is_glibcs && arenas_are_used(calls) ? chunk_bytes(&chunk) - sizeof(size_t) : 0;
}

bool glibc_heap_give(void *pointer)
{
    if (glibc_heap_usable_bytes(pointer) == 0) {
        return false;
    }
    found_calls()->free(pointer);
    return true;
}
