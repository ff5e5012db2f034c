// SPDX-License-Identifier: MIT
#include "region/arena.h"

#include "base/bit_runs.h"
#include "base/bits.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "stats/budget.h"

static char *map_covered(size_t bytes)
{
    char *base = os_map(bytes, bytes >= ARENA_BYTES_FIRST ? CHUNK_BYTES : UNIT_BYTES);
    if (base != NULL && !(page_map_extend((uintptr_t)base, bytes) &&
                          page_map_commit_records((uintptr_t)base, bytes))) {
        os_discard(base, bytes);
        base = NULL;
    }
    return base;
}

// Is the heap big enough for huge pages to pay?
static bool wants_huge_pages(uintptr_t base, size_t bytes)
{
    uint64_t from_bytes = gate_live(&gates.huge_pages);
    return from_bytes != 0 && budget_read(&budget.committed_bytes) >= from_bytes &&
           os_huge_page_bytes() == CHUNK_BYTES && (base | bytes) % CHUNK_BYTES == 0;
}

struct arena arena_map(size_t least_bytes, size_t wanted_bytes)
{
    size_t bytes = max_size(max_size(wanted_bytes, ARENA_BYTES_FIRST), least_bytes);
    char *base = map_covered(bytes);
    while (base == NULL && bytes > least_bytes) {
        bytes = max_size(align_down(bytes / 4, UNIT_BYTES), least_bytes);
        base = map_covered(bytes);
    }
    if (base == NULL) {
        return (struct arena){.bytes = 0};
    }
    bool is_huge = wants_huge_pages((uintptr_t)base, bytes);
    if (is_huge) {
        os_want_huge_pages(base, bytes);
    } else {
        os_avoid_huge_pages(base, bytes);
    }
    budget_add(&budget.mapped_bytes, bytes);
    return (struct arena){.base = (uintptr_t)base, .bytes = bytes, .is_huge = is_huge};
}

// An unmapped arena of the other kind may have been here.
void arena_mark(const struct arena *arena)
{
    uintptr_t end = arena->base + arena->bytes;
    for (uintptr_t chunk = align_down(arena->base, CHUNK_BYTES); chunk < end;
         chunk += CHUNK_BYTES) {
        _Atomic uint32_t *word = &page_map_chunk_bits(chunk)->huge[chunk_word(chunk)];
        if (arena->is_huge) {
            atomic_fetch_or_explicit(word, chunk_bit(chunk), memory_order_relaxed);
        } else {
            atomic_fetch_and_explicit(word, ~chunk_bit(chunk), memory_order_relaxed);
        }
    }
}

uint32_t arena_forget_huge(uintptr_t address)
{
    return atomic_exchange_explicit(&page_map_chunk_bits(address)->huge[chunk_word(address)], 0,
                                    memory_order_relaxed);
}

void arena_avoid_huge(uintptr_t address, uint32_t chunks)
{
    uintptr_t window = align_down(address, WINDOW_BYTES);
    while (chunks != 0) {
        uint64_t run = bits_lowest_run(chunks);
        os_avoid_huge_pages((void *)(window + (uintptr_t)__builtin_ctzll(run) * CHUNK_BYTES),
                            (size_t)__builtin_popcountll(run) * CHUNK_BYTES);
        chunks &= ~(uint32_t)run;
    }
}
