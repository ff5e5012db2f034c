// SPDX-License-Identifier: MIT
#include "backend/large_place.h"

#include "backend/fence.h"
#include "os/os_memory.h"
#include "region/page_map.h"
#include "stats/budget.h"

static char *map_pages(const struct large_pages *pages, size_t align_bytes)
{
    if (pages->place == PLACE_SLOT) {
        return slot_take(pages->bytes);
    }
    if (pages->place == PLACE_FENCED) {
        return fence_map(pages->bytes, align_bytes);
    }
    char *start = os_map(pages->bytes, align_bytes);
    if (start != NULL) {
        budget_add(&budget.mapped_bytes, pages->bytes);
    }
    return start;
}

// Nothing can be noted of pages that the page map doesn't cover.
static void undo_take(const struct large_pages *pages)
{
    if (pages->place != PLACE_MAPPING) {
        size_t held_bytes = 0;
        (void)large_pages_give(pages, pages->bytes, &held_bytes);
        return;
    }
    budget_subtract(&budget.mapped_bytes, pages->bytes);
    budget_uncommit(pages->bytes);
    os_discard(pages->start, pages->bytes);
}

bool large_pages_take(struct large_pages *pages, size_t align_bytes)
{
    if (!budget_commit(pages->bytes)) {
        return false;
    }
    pages->start = map_pages(pages, align_bytes);
    if (pages->start == NULL) {
        budget_subtract(&budget.committed_bytes, pages->bytes);
        return false;
    }
    if (!page_map_extend((uintptr_t)pages->start, 1) ||
        !page_map_commit_records((uintptr_t)pages->start, 1)) {
        undo_take(pages);
        return false;
    }
    return true;
}

// Fenced pages for which there is no room between guards go without.
static char *grow_pages(struct large_pages *pages, size_t bytes)
{
    char *grown =
        pages->place == PLACE_FENCED ? fence_resize(pages->start, pages->bytes, bytes) : NULL;
    if (grown != NULL) {
        return grown;
    }
    grown = os_resize(pages->start, pages->bytes, bytes);
    if (grown != NULL) {
        budget_add(&budget.mapped_bytes, bytes - pages->bytes);
        if (pages->place == PLACE_FENCED) {
            fence_drop(pages->start, pages->bytes);
            pages->place = PLACE_MAPPING;
        }
    }
    return grown;
}

// Where the pages will go is known only when they are there, and then nothing may fail: so the part
// of the page map that they may need is made before.
static bool grow(struct large_pages *pages, size_t bytes)
{
    char *zone = page_map_reserve_zone();
    if (zone == NULL) {
        return false;
    }
    char *grown = grow_pages(pages, bytes);
    page_map_extend_with((uintptr_t)(grown != NULL ? grown : pages->start), zone);
    if (grown == NULL) {
        return false;
    }
    (void)page_map_commit_records((uintptr_t)grown, 1);
    pages->start = grown;
    pages->bytes = bytes;
    return true;
}

static bool cut(struct large_pages *pages, size_t bytes)
{
    if (pages->place == PLACE_FENCED) {
        if (fence_resize(pages->start, pages->bytes, bytes) == NULL) {
            return false;
        }
    } else {
        if (os_resize(pages->start, pages->bytes, bytes) == NULL) {
            return false;
        }
        budget_subtract(&budget.mapped_bytes, pages->bytes - bytes);
    }
    budget_uncommit(pages->bytes - bytes);
    pages->bytes = bytes;
    return true;
}

bool large_pages_resize(struct large_pages *pages, size_t bytes)
{
    return bytes > pages->bytes ? grow(pages, bytes) : cut(pages, bytes);
}

bool large_pages_give(const struct large_pages *pages, size_t committed_bytes, size_t *held_bytes)
{
    *held_bytes = 0;
    budget_uncommit(committed_bytes);
    if (pages->place == PLACE_SLOT) {
        slot_give(pages->start);
        return true;
    }
    if (pages->place == PLACE_FENCED) {
        fence_unmap(pages->start, pages->bytes);
        return true;
    }
    budget_subtract(&budget.mapped_bytes, pages->bytes);
    if (os_unmap(pages->start, pages->bytes) == 0) {
        return true;
    }
    budget_add(&budget.mapped_bytes, pages->bytes);
    if (committed_bytes != 0 && os_purge(pages->start, pages->bytes) != 0) {
        budget_commit_anyway(committed_bytes);
        *held_bytes = committed_bytes;
    }
    return false;
}
