// Page map: for every address, whose it is and what it holds.
// Layer: region.  Needs: base, os, stats.
// SPDX-License-Identifier: MIT
//
// Two levels.  The root has one slot per GiB of address space; a slot holds the distance from the
// root to that GiB's zone.  A zone holds one entry and one record per unit of 64 KiB.  An untouched
// slot is 0 and so means the null zone, all of whose entries are 0: foreign.  Nothing of the map is
// resident but the pages that were looked up.
//
// An entry is owner tag << 8 | class.  0: not ours, or free.  Tag 0 and class 0 are never issued.
// Entries are written under the lock of whoever owns the unit's span, before a block of it is
// handed out and after the last one is back, so a thread that holds a block sees its entry by the
// same hand-over that gave it the block, and the hit path reads it relaxed.  A slab that moves from a
// parked heap to another changes entries of blocks that are out: those are written with release,
// and page_map_lookup, which the slow paths use, reads with acquire, so that whoever sees the later
// owner sees the slab as the earlier one left it.
#ifndef HAK_REGION_PAGE_MAP_H
#define HAK_REGION_PAGE_MAP_H

#include "base/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UNIT_SHIFT = 16,
    UNIT_BYTES = 1 << UNIT_SHIFT,
    ZONE_SHIFT = 30,
    ZONE_UNIT_COUNT = 1 << (ZONE_SHIFT - UNIT_SHIFT),
#if defined(__aarch64__)
    ADDRESS_BITS = 48,
#else
    ADDRESS_BITS = 47,
#endif
    ZONE_COUNT = 1 << (ADDRESS_BITS - ZONE_SHIFT),
    UNIT_RECORD_BYTES = 128,
    CHUNK_SHIFT = 21,
    CHUNK_BYTES = 1 << CHUNK_SHIFT,  // a huge page, where pages have 4 KiB
    CHUNK_UNIT_COUNT = CHUNK_BYTES / UNIT_BYTES,
    WINDOW_BYTES = 32 * CHUNK_BYTES,  // the chunks of one word of bits
};

typedef uint32_t page_entry;

enum {
    ENTRY_CLASS_BITS = 8,
    ENTRY_TAG_COUNT = 1 << 24,
    LARGE_CLASS = 255,                // "a large block begins in this unit"
    NO_TAG = ENTRY_TAG_COUNT - 1,     // what an empty heap compares with; never issued
    LARGE_TAG = ENTRY_TAG_COUNT - 2,  // of large blocks that belong to no first-class heap
    FREED_TAG = ENTRY_TAG_COUNT - 3,  // a large block began here and was freed: told apart
    OWNER_TAG_MOST = ENTRY_TAG_COUNT - 4,
};

static inline page_entry page_entry_make(uint32_t owner_tag, uint32_t cls)
{
    return owner_tag << ENTRY_CLASS_BITS | cls;
}

static inline uint32_t page_entry_tag(page_entry entry)
{
    return entry >> ENTRY_CLASS_BITS;
}

static inline uint32_t page_entry_class(page_entry entry)
{
    return entry & ((1u << ENTRY_CLASS_BITS) - 1);
}

// The null zone stands first, so that one base register reaches both.  A distance is written once,
// with release, after the zone is complete; readers need no acquire because the zone's contents
// reach them through the block they hold (see above), and a zone is never unmapped.
struct page_map {
    _Atomic page_entry null_zone[ZONE_UNIT_COUNT];
    _Atomic uintptr_t zone_distance[ZONE_COUNT];
};

extern struct page_map page_map;

static inline size_t page_map_unit_index(uintptr_t address)
{
    return (address >> UNIT_SHIFT) & (ZONE_UNIT_COUNT - 1);
}

static inline char *page_map_zone(uintptr_t address)
{
    uintptr_t distance =
        atomic_load_explicit(&page_map.zone_distance[address >> ZONE_SHIFT], memory_order_relaxed);
    return (char *)&page_map + distance;
}

// The entry of an address below 2^ADDRESS_BITS.
static HAK_HOT page_entry page_map_entry(uintptr_t address)
{
    const _Atomic page_entry *entries = (const _Atomic page_entry *)(void *)page_map_zone(address);
    return atomic_load_explicit(&entries[page_map_unit_index(address)], memory_order_relaxed);
}

static inline bool page_map_covers(uintptr_t address)
{
    return address >> ZONE_SHIFT < ZONE_COUNT;
}

// The entry of any address; 0 for what is not ours.
static inline page_entry page_map_lookup(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    if (!page_map_covers(address)) {
        return 0;
    }
    const _Atomic page_entry *entries = (const _Atomic page_entry *)(void *)page_map_zone(address);
    // Acquire: pairs with the release store in page_map_set.
    return atomic_load_explicit(&entries[page_map_unit_index(address)], memory_order_acquire);
}

enum {
    ZONE_RECORDS_OFFSET = ZONE_UNIT_COUNT * sizeof(page_entry),
    ZONE_BITS_OFFSET = ZONE_RECORDS_OFFSET + ZONE_UNIT_COUNT * UNIT_RECORD_BYTES,
};

// The record of a unit whose zone exists.
static inline void *page_map_record(uintptr_t address)
{
    return page_map_zone(address) + ZONE_RECORDS_OFFSET +
           page_map_unit_index(address) * UNIT_RECORD_BYTES;
}

// One bit for each chunk of a zone, a word for each window.
struct chunk_bits {
    // The system was asked to back the chunk with a huge page.  Set and cleared under the page heap's
    // lock; read relaxed without it, which can be late but not torn.
    _Atomic uint32_t huge[(1 << (ZONE_SHIFT - CHUNK_SHIFT)) / 32];
    // The records of the chunk's units are in the budget.
    _Atomic uint32_t counted[(1 << (ZONE_SHIFT - CHUNK_SHIFT)) / 32];
};

// The bits of an address whose zone exists.
static inline struct chunk_bits *page_map_chunk_bits(uintptr_t address)
{
    // As a number: gcc takes the zone for a part of page_map and warns, in sanitizer builds.
    return (struct chunk_bits *)((uintptr_t)page_map_zone(address) + ZONE_BITS_OFFSET);
}

// The word of an address in chunk_bits, and its bit there.
static inline size_t chunk_word(uintptr_t address)
{
    return (address / WINDOW_BYTES) % (((size_t)1 << ZONE_SHIFT) / WINDOW_BYTES);
}

static inline uint32_t chunk_bit(uintptr_t address)
{
    return 1u << (address / CHUNK_BYTES % 32);
}

static inline bool page_map_is_huge(uintptr_t address)
{
    const _Atomic uint32_t *word = &page_map_chunk_bits(address)->huge[chunk_word(address)];
    return (atomic_load_explicit(word, memory_order_relaxed) & chunk_bit(address)) != 0;
}

// Commits the records of the units in [address, address + bytes), once for each chunk: a page of 4 KiB holds
// the records of one.  False: the limit forbids it.  Any thread may call; the zones exist.
bool page_map_commit_records(uintptr_t address, size_t bytes);

// The same whatever the limit says: for memory that is mapped already.
void page_map_count_records(uintptr_t address, size_t bytes);

// Gives back the records of the chunks that lie in a range of one zone as a whole, which the caller is about
// to unmap: they read as zero, and are counted again when the range is committed again.
void page_map_forget_records(uintptr_t address, size_t bytes);

// Sets the entries of `unit_count` units from `address` on; their zones exist.
void page_map_set(uintptr_t address, size_t unit_count, page_entry entry);

// Makes the zones that [address, address + bytes) needs.  False when memory is out or when the
// range lies above the addresses that the map covers.  Any thread may call.
bool page_map_extend(uintptr_t address, size_t bytes);

// For a range whose address is known only afterwards: first makes sure of a zone, NULL when memory is
// out; then gives it to the map for `address`, which uses it or keeps it for later.
char *page_map_reserve_zone(void);
void page_map_extend_with(uintptr_t address, char *reserved_zone);

// Around fork.
void page_map_lock(void);
void page_map_unlock(void);

#endif
