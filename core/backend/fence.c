// SPDX-License-Identifier: MIT
#include "backend/fence.h"

#include "base/bits.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "region/page_map.h"
#include "stats/budget.h"

enum {
    FENCES_MOST = 4096,  // mappings: each is three to the system
    SHUT_COUNT = 16,     // freed ones that stay shut
    SHUT_BYTES_MOST = 64 << 20,
    SLOT_COUNT = 256,
    SLOTS_WAITING = 64,  // freed slots that are not used again yet
};

struct shut_range {
    void *base;
    size_t bytes;
};

// Guarded by fence.lock, except count and slots: the former is a bound only, the latter is published
// with release once the region is in the page map.
static struct {
    struct lock lock;
    _Atomic size_t count;
    struct shut_range shut[SHUT_COUNT];  // a ring
    size_t shut_next;
    char *_Atomic slots;
    uint8_t free_slots[SLOT_COUNT];  // a ring: the longest free one first
    size_t free_first;
    size_t free_count;
} fence;

// ---- Mappings -------------------------------------------------------------------------------------

static bool count_up(void)
{
    if (atomic_fetch_add_explicit(&fence.count, 1, memory_order_relaxed) < FENCES_MOST) {
        return true;
    }
    atomic_fetch_sub_explicit(&fence.count, 1, memory_order_relaxed);
    return false;
}

static void count_down(void)
{
    atomic_fetch_sub_explicit(&fence.count, 1, memory_order_relaxed);
}

// Gives shut pages back.  The note on what the system refuses to unmap needs a page that can be written.
static void give_back(char *base, size_t bytes)
{
    if (os_unmap(base, bytes) != 0 && os_unguard(base, os_page_bytes()) == 0) {
        os_discard(base, bytes);
    }
}

// Shut pages, with room for guards around `bytes`; the first byte after the first guard.
static char *reserve(size_t bytes, size_t align_bytes)
{
    size_t guard_bytes = os_page_bytes();
    // The guard in front takes as much as keeps the pages aligned.
    size_t lead_bytes = max_size(guard_bytes, align_bytes);
    char *base = os_reserve(lead_bytes + bytes + guard_bytes, max_size(align_bytes, guard_bytes));
    if (base == NULL) {
        return NULL;
    }
    if (lead_bytes != guard_bytes) {
        give_back(base, lead_bytes - guard_bytes);
    }
    return base + lead_bytes;
}

void *fence_map(size_t bytes, size_t align_bytes)
{
    size_t guard_bytes = os_page_bytes();
    if (!count_up()) {
        return NULL;
    }
    char *pages = reserve(bytes, align_bytes);
    if (pages != NULL && os_unguard(pages, bytes) != 0) {
        give_back(pages - guard_bytes, bytes + 2 * guard_bytes);
        pages = NULL;
    }
    if (pages == NULL) {
        count_down();
        return NULL;
    }
    budget_add(&budget.mapped_bytes, bytes);
    return pages;
}

// Puts a range among the shut ones; returns the one whose place it takes.
static struct shut_range shut_push(struct shut_range range)
{
    lock_take(&fence.lock);
    struct shut_range former = fence.shut[fence.shut_next];
    fence.shut[fence.shut_next] = range;
    fence.shut_next = (fence.shut_next + 1) % SHUT_COUNT;
    lock_give(&fence.lock);
    return former;
}

void fence_unmap(void *pages, size_t bytes)
{
    size_t guard_bytes = os_page_bytes();
    struct shut_range range = {(char *)pages - guard_bytes, bytes + 2 * guard_bytes};
    budget_subtract(&budget.mapped_bytes, bytes);
    if (range.bytes <= SHUT_BYTES_MOST / SHUT_COUNT && os_shut(pages, bytes) == 0) {
        range = shut_push(range);
    }
    if (range.base != NULL) {
        give_back(range.base, range.bytes);
    }
    count_down();
}

size_t fence_unmap_shut(void)
{
    size_t bytes = 0;
    for (size_t i = 0; i < SHUT_COUNT; i++) {
        struct shut_range range = shut_push((struct shut_range){NULL, 0});
        if (range.base != NULL) {
            give_back(range.base, range.bytes);
            bytes += range.bytes;
        }
    }
    return bytes;
}

void fence_drop(void *pages, size_t bytes)
{
    size_t guard_bytes = os_page_bytes();
    give_back((char *)pages - guard_bytes, guard_bytes);
    give_back((char *)pages + bytes, guard_bytes);
    count_down();
}

// The page behind the new end becomes the guard.
static void *cut(char *pages, size_t old_bytes, size_t bytes)
{
    size_t guard_bytes = os_page_bytes();
    if (os_shut(pages + bytes, guard_bytes) != 0) {
        return NULL;
    }
    give_back(pages + bytes + guard_bytes, old_bytes - bytes);
    budget_subtract(&budget.mapped_bytes, old_bytes - bytes);
    return pages;
}

void *fence_resize(void *pages, size_t old_bytes, size_t bytes)
{
    size_t guard_bytes = os_page_bytes();
    if (bytes <= old_bytes) {
        return bytes == old_bytes ? pages : cut(pages, old_bytes, bytes);
    }
    char *target = reserve(bytes, guard_bytes);
    if (target == NULL) {
        return NULL;
    }
    if (os_move(pages, old_bytes, bytes, target) != 0) {
        give_back(target - guard_bytes, bytes + 2 * guard_bytes);
        return NULL;
    }
    give_back((char *)pages - guard_bytes, guard_bytes);
    give_back((char *)pages + old_bytes, guard_bytes);
    budget_add(&budget.mapped_bytes, bytes - old_bytes);
    return target;
}

// ---- Slots ----------------------------------------------------------------------------------------

// A whole number of units: at most one large block may begin in each.
static size_t slot_bytes(void)
{
    enum {
        PAGES_LEAST = 4
    };
    return max_size(UNIT_BYTES, PAGES_LEAST * os_page_bytes());
}

static char *slots_now(void)
{
    // Acquire: pairs with the release store in reserve_slots.
    return atomic_load_explicit(&fence.slots, memory_order_acquire);
}

// When two threads come at once, the second one's region is given back.
static bool reserve_slots(void)
{
    size_t bytes = SLOT_COUNT * slot_bytes();
    char *region = os_reserve(bytes, slot_bytes());
    if (region == NULL) {
        return false;
    }
    bool is_ready = page_map_extend((uintptr_t)region, bytes) &&
                    page_map_commit_records((uintptr_t)region, bytes);
    lock_take(&fence.lock);
    bool is_first = is_ready && slots_now() == NULL;
    if (is_first) {
        for (size_t i = 0; i < SLOT_COUNT; i++) {
            fence.free_slots[i] = (uint8_t)i;
        }
        fence.free_count = SLOT_COUNT;
        // Release: pairs with the acquire load in slots_now.
        atomic_store_explicit(&fence.slots, region, memory_order_release);
    }
    lock_give(&fence.lock);
    if (is_first) {
        budget_add(&budget.mapped_bytes, bytes);
    } else {
        give_back(region, bytes);
    }
    return slots_now() != NULL;
}

static void push_slot(size_t index)
{
    lock_take(&fence.lock);
    fence.free_slots[(fence.free_first + fence.free_count) % SLOT_COUNT] = (uint8_t)index;
    fence.free_count++;
    lock_give(&fence.lock);
}

static bool pop_slot(size_t *index)
{
    lock_take(&fence.lock);
    bool is_found = fence.free_count > SLOTS_WAITING;
    if (is_found) {
        *index = fence.free_slots[fence.free_first];
        fence.free_first = (fence.free_first + 1) % SLOT_COUNT;
        fence.free_count--;
    }
    lock_give(&fence.lock);
    return is_found;
}

void *slot_take(size_t bytes)
{
    size_t guard_bytes = os_page_bytes();
    size_t pages_bytes = align_up(bytes, guard_bytes);
    size_t index = 0;
    if (pages_bytes > slot_bytes() - 2 * guard_bytes || (slots_now() == NULL && !reserve_slots()) ||
        !pop_slot(&index)) {
        return NULL;
    }
    char *pages = slots_now() + (index + 1) * slot_bytes() - guard_bytes - pages_bytes;
    if (os_unguard(pages, pages_bytes) != 0) {
        push_slot(index);
        return NULL;
    }
    return pages;
}

// A slot that can't be shut is lost.
void slot_give(void *pages)
{
    size_t index = (size_t)((char *)pages - slots_now()) / slot_bytes();
    char *start = slots_now() + index * slot_bytes();
    if (os_shut(start, slot_bytes()) == 0) {
        push_slot(index);
    }
}

void fence_lock(void)
{
    lock_take(&fence.lock);
}

void fence_unlock(void)
{
    lock_give(&fence.lock);
}
