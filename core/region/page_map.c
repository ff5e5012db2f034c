// SPDX-License-Identifier: MIT
#include "region/page_map.h"

#include "base/bits.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "region/record_pool.h"
#include "stats/budget.h"

struct page_map page_map __attribute__((aligned(64)));

enum {
    ZONE_BYTES = ZONE_BITS_OFFSET + sizeof(struct chunk_bits),
    CHUNK_RECORD_BYTES = CHUNK_UNIT_COUNT * (sizeof(page_entry) + UNIT_RECORD_BYTES),
};

// Guarded by its lock, which is held while a zone is added, not while it is mapped.
static struct {
    struct lock lock;
    char *
        spare_zones;  // made for ranges that turned out not to need them; each begins with the next
} extension;

void page_map_set(uintptr_t address, size_t unit_count, page_entry entry)
{
    for (size_t i = 0; i < unit_count; i++) {
        uintptr_t unit = address + i * UNIT_BYTES;
        _Atomic page_entry *entries = (_Atomic page_entry *)(void *)page_map_zone(unit);
        // Release: pairs with the acquire load in page_map_lookup.
        atomic_store_explicit(&entries[page_map_unit_index(unit)], entry, memory_order_release);
    }
}

static bool zone_exists(size_t zone)
{
    return atomic_load_explicit(&page_map.zone_distance[zone], memory_order_relaxed) != 0;
}

char *page_map_reserve_zone(void)
{
    lock_take(&extension.lock);
    char **zone = (char **)(void *)extension.spare_zones;
    if (zone != NULL) {
        extension.spare_zones = *zone;
        *zone = NULL;
    }
    lock_give(&extension.lock);
    return zone != NULL ? (char *)zone : record_map(ZONE_BYTES);
}

// The address lies below the top of the map: the kernel hands out higher ones on request only.
void page_map_extend_with(uintptr_t address, char *reserved_zone)
{
    size_t zone = address >> ZONE_SHIFT;
    lock_take(&extension.lock);
    if (!zone_exists(zone)) {
        uintptr_t distance = (uintptr_t)reserved_zone - (uintptr_t)&page_map;
        // Partner: the relaxed load in page_map_zone; see the comment on struct page_map.
        atomic_store_explicit(&page_map.zone_distance[zone], distance, memory_order_release);
    } else {
        *(char **)(void *)reserved_zone = extension.spare_zones;
        extension.spare_zones = reserved_zone;
    }
    lock_give(&extension.lock);
}

bool page_map_extend(uintptr_t address, size_t bytes)
{
    uintptr_t last = address + bytes - 1;
    if (last < address || !page_map_covers(last)) {
        return false;
    }
    for (size_t zone = address >> ZONE_SHIFT; zone <= last >> ZONE_SHIFT; zone++) {
        if (zone_exists(zone)) {
            continue;
        }
        char *memory = page_map_reserve_zone();
        if (memory == NULL) {
            return false;
        }
        page_map_extend_with((uintptr_t)zone << ZONE_SHIFT, memory);
    }
    return true;
}

static size_t count_unmarked(uintptr_t start, uintptr_t end)
{
    size_t count = 0;
    for (uintptr_t chunk = start; chunk < end; chunk += CHUNK_BYTES) {
        const _Atomic uint32_t *word = &page_map_chunk_bits(chunk)->counted[chunk_word(chunk)];
        count += (atomic_load_explicit(word, memory_order_relaxed) & chunk_bit(chunk)) == 0;
    }
    return count;
}

// Relaxed: the bits stand for nothing but themselves.
static size_t mark(uintptr_t start, uintptr_t end)
{
    size_t count = 0;
    for (uintptr_t chunk = start; chunk < end; chunk += CHUNK_BYTES) {
        _Atomic uint32_t *word = &page_map_chunk_bits(chunk)->counted[chunk_word(chunk)];
        uint32_t bit = chunk_bit(chunk);
        count += (atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit) == 0;
    }
    return count;
}

bool page_map_commit_records(uintptr_t address, size_t bytes)
{
    uintptr_t start = align_down(address, CHUNK_BYTES);
    size_t unmarked_count = count_unmarked(start, address + bytes);
    if (unmarked_count == 0) {
        return true;
    }
    if (!budget_commit(unmarked_count * CHUNK_RECORD_BYTES)) {
        return false;
    }
    // Somebody else may have marked one of them meanwhile.
    size_t marked_count = mark(start, address + bytes);
    budget_add(&budget.record_bytes, marked_count * CHUNK_RECORD_BYTES);
    budget_subtract(&budget.committed_bytes, (unmarked_count - marked_count) * CHUNK_RECORD_BYTES);
    return true;
}

void page_map_count_records(uintptr_t address, size_t bytes)
{
    size_t marked_bytes =
        mark(align_down(address, CHUNK_BYTES), address + bytes) * CHUNK_RECORD_BYTES;
    budget_commit_anyway(marked_bytes);
    budget_add(&budget.record_bytes, marked_bytes);
}

static void unmark(uintptr_t start, uintptr_t end)
{
    size_t count = 0;
    for (uintptr_t chunk = start; chunk < end; chunk += CHUNK_BYTES) {
        _Atomic uint32_t *word = &page_map_chunk_bits(chunk)->counted[chunk_word(chunk)];
        uint32_t bit = chunk_bit(chunk);
        count += (atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed) & bit) != 0;
    }
    budget_subtract(&budget.record_bytes, count * CHUNK_RECORD_BYTES);
    budget_uncommit(count * CHUNK_RECORD_BYTES);
}

// The records of as many chunks as fill whole pages.  What the entries take, a thirtieth of the whole, stays:
// a page has those of many chunks.
void page_map_forget_records(uintptr_t address, size_t bytes)
{
    size_t page_chunks = max_size(os_page_bytes() / (CHUNK_UNIT_COUNT * UNIT_RECORD_BYTES), 1);
    uintptr_t start = align_up(address, page_chunks * CHUNK_BYTES);
    uintptr_t end = align_down(address + bytes, page_chunks * CHUNK_BYTES);
    if (start < end) {
        size_t record_bytes = (end - start) / UNIT_BYTES * UNIT_RECORD_BYTES;
        if (os_purge(page_map_record(start), record_bytes) == 0) {
            unmark(start, end);
        }
    }
}

void page_map_lock(void)
{
    lock_take(&extension.lock);
}

void page_map_unlock(void)
{
    lock_give(&extension.lock);
}
