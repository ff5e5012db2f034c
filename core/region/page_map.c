// SPDX-License-Identifier: MIT
#include "region/page_map.h"

#include "os/os_thread.h"
#include "region/record_pool.h"

struct page_map page_map __attribute__((aligned(64)));

// Held while zones are added.
static struct lock extend_lock;

void page_map_set(uintptr_t address, size_t unit_count, page_entry entry)
{
    for (size_t i = 0; i < unit_count; i++) {
        uintptr_t unit = address + i * UNIT_BYTES;
        _Atomic page_entry *entries = (_Atomic page_entry *)(void *)page_map_zone(unit);
        atomic_store_explicit(&entries[page_map_unit_index(unit)], entry, memory_order_relaxed);
    }
}

static bool zone_exists(size_t zone)
{
    return atomic_load_explicit(&page_map.zone_distance[zone], memory_order_relaxed) != 0;
}

static bool add_zone(size_t zone)
{
    char *memory = record_map(ZONE_UNIT_COUNT * (sizeof(page_entry) + UNIT_RECORD_BYTES));
    if (memory == NULL) {
        return false;
    }
    uintptr_t distance = (uintptr_t)memory - (uintptr_t)&page_map;
    // Partner: the relaxed load in page_map_zone; see the comment on struct page_map.
    atomic_store_explicit(&page_map.zone_distance[zone], distance, memory_order_release);
    return true;
}

bool page_map_extend(uintptr_t address, size_t bytes)
{
    uintptr_t last = address + bytes - 1;
    if (last < address || !page_map_covers(last)) {
        return false;
    }
    bool is_done = true;
    lock_take(&extend_lock);
    for (size_t zone = address >> ZONE_SHIFT; is_done && zone <= last >> ZONE_SHIFT; zone++) {
        is_done = zone_exists(zone) || add_zone(zone);
    }
    lock_give(&extend_lock);
    return is_done;
}

void page_map_lock(void)
{
    lock_take(&extend_lock);
}

void page_map_unlock(void)
{
    lock_give(&extend_lock);
}
