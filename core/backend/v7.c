// SPDX-License-Identifier: MIT
#include "backend/v7.h"

#include "backend/wipe_span.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "region/page_heap.h"
#include "region/record_pool.h"
#include "stats/budget.h"

enum {
    LINK_TAKEN = UINT16_MAX,  // the block is out
    LINK_END = UINT16_MAX - 1,
};

static struct v7_slab *slab_at(const void *block)
{
    return (struct v7_slab *)(void *)span_of_unit((uintptr_t)block);
}

unsigned v7_page_shift(void)
{
    return log2_floor(max_size(os_page_bytes(), UNIT_BYTES / V7_PAGE_COUNT_MOST));
}

static unsigned page_count(void)
{
    return UNIT_BYTES >> v7_page_shift();
}

// The page in which a block begins, and the one in which it ends.
static unsigned first_page_of(const struct v7_slab *slab, size_t index)
{
    return (unsigned)((index * size_class_bytes(slab->cls)) >> v7_page_shift());
}

static unsigned last_page_of(const struct v7_slab *slab, size_t index)
{
    return (unsigned)(((index + 1) * size_class_bytes(slab->cls) - 1) >> v7_page_shift());
}

// The first block that begins in a page, or behind it if none does.
static size_t first_index_in(const struct v7_slab *slab, unsigned page)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    return min_size((((size_t)page << v7_page_shift()) + block_bytes - 1) / block_bytes,
                    slab->capacity);
}

static struct v7_slab **list_of(struct slab_owner *owner, const struct v7_slab *slab)
{
    return slab->list == V7_DETACHED ? &owner->v7_detached : &owner->v7_slabs[slab->cls];
}

static void unlink_slab(struct slab_owner *owner, struct v7_slab *slab)
{
    if (slab->list != V7_FULL) {
        span_list_remove((struct span **)(void *)list_of(owner, slab), &slab->span);
    }
}

// Behind the first one, from which blocks are being taken.
static void link_slab(struct slab_owner *owner, struct v7_slab *slab)
{
    slab->list = V7_LISTED;
    struct v7_slab *first = owner->v7_slabs[slab->cls];
    struct span **list =
        first != NULL ? &first->span.next : (struct span **)(void *)&owner->v7_slabs[slab->cls];
    span_list_push(list, &slab->span);
    slab->span.prev = first != NULL ? &first->span : NULL;
}

static void count_slab(struct slab_owner *owner, const struct v7_slab *slab, size_t free_count,
                       int sign)
{
    struct slab_class *class = &owner->classes[slab->cls];
    class->slab_count += (size_t)sign;
    class->block_count += (size_t)sign * slab->capacity;
    class->free_count += (size_t)sign * free_count;
    owner->taken_bytes +=
        (size_t)sign * (slab->capacity - free_count) * size_class_bytes(slab->cls);
}

// The array of links of a class: a power of two of bytes, so that those of released slabs serve others.
static unsigned store_shift(class_id cls)
{
    size_t bytes = UNIT_BYTES / size_class_bytes(cls) * sizeof(uint16_t);
    return log2_floor(2 * bytes - 1);
}

static uint16_t *take_store(struct slab_owner *owner, class_id cls)
{
    unsigned shift = store_shift(cls);
    lock_take(owner->lock);
    void **store = owner->v7_stores[shift];
    if (store != NULL) {
        owner->v7_stores[shift] = *store;
    }
    lock_give(owner->lock);
    return store != NULL ? (uint16_t *)(void *)store : record_take((size_t)1 << shift);
}

// Under the lock, as v7_stores.
static void give_store(struct slab_owner *owner, const struct v7_slab *slab)
{
    void **store = (void **)(void *)slab->links;
    *store = owner->v7_stores[store_shift(slab->cls)];
    owner->v7_stores[store_shift(slab->cls)] = store;
}

// The slab is in no list, and all its blocks are free.
static void release(struct slab_owner *owner, struct v7_slab *slab)
{
    count_slab(owner, slab, slab->free_count, -1);
    give_store(owner, slab);
    // The page heap takes it for dirty.
    budget_commit_anyway((size_t)__builtin_popcount(slab->purged) << v7_page_shift());
    page_heap_give(&slab->span);
}

static void fill_lists(struct v7_slab *slab)
{
    for (unsigned page = 0; page < page_count(); page++) {
        size_t first = first_index_in(slab, page);
        size_t end = first_index_in(slab, page + 1);
        slab->pages[page].head = (uint16_t)(first < end ? first : LINK_END);
        slab->pages[page].free_count = (uint16_t)(end - first);
        for (size_t i = first; i < end; i++) {
            slab->links[i] = (uint16_t)(i + 1 < end ? i + 1 : LINK_END);
        }
    }
}

// False: memory or the limit is reached.  The caller holds no lock.
static bool add_slab(struct slab_owner *owner, class_id cls)
{
    uint16_t *links = take_store(owner, cls);
    struct v7_slab *slab = links != NULL ? (struct v7_slab *)(void *)page_heap_take(1) : NULL;
    bool is_made = slab != NULL;
    if (is_made) {
        wipe_span(&slab->span);
    }
    lock_take(owner->lock);
    if (is_made) {
        slab->span.backend = BACKEND_V7;
        slab->cls = cls;
        slab->links = links;
        slab->capacity = (uint16_t)(UNIT_BYTES / size_class_bytes(cls));
        slab->free_count = slab->capacity;
        slab->page_number = 0;
        slab->purged = 0;
        slab->pending = 0;
        fill_lists(slab);
        count_slab(owner, slab, slab->capacity, 1);
        link_slab(owner, slab);
        page_map_set(slab->span.base, 1, owner->tag | cls);
    } else if (links != NULL) {
        give_store(owner, &(struct v7_slab){.links = links, .cls = cls});
    }
    lock_give(owner->lock);
    return is_made;
}

// ---- Taking ---------------------------------------------------------------------------------------

// May the block be used?  Purged pages that it touches count as committed from here on.
static bool unpurge(struct v7_slab *slab, size_t index)
{
    unsigned touched =
        (1u << first_page_of(slab, index) | 1u << last_page_of(slab, index)) & slab->purged;
    if (likely(touched == 0)) {
        return true;
    }
    if (!budget_commit((size_t)__builtin_popcount(touched) << v7_page_shift())) {
        return false;
    }
    slab->purged &= (uint16_t)~touched;
    return true;
}

// Takes the first block of a page's list that the limit allows; returns its number, or LINK_END.
static uint16_t take_of_page(struct v7_slab *slab, struct v7_page *page)
{
    for (uint16_t *link = &page->head; *link != LINK_END; link = &slab->links[*link]) {
        uint16_t index = *link;
        if (unpurge(slab, index)) {
            *link = slab->links[index];
            slab->links[index] = LINK_TAKEN;
            page->free_count--;
            slab->free_count--;
            return index;
        }
    }
    return LINK_END;
}

// How good a page is to take from: the more free blocks the better, resident pages before purged ones.
static size_t page_score(const struct v7_slab *slab, unsigned page)
{
    size_t count = slab->pages[page].free_count;
    return count + ((slab->purged >> page & 1) == 0 && count != 0 ? slab->capacity : 0u);
}

static unsigned best_page(const struct v7_slab *slab)
{
    unsigned best = 0;
    for (unsigned page = 1; page < page_count(); page++) {
        if (page_score(slab, page) > page_score(slab, best)) {
            best = page;
        }
    }
    return best;
}

// The slab whose current page is to be taken from, which is then the first one: that stays as long as
// its page has blocks; else the one of the first few with the best page.  NULL: no block is free.
static struct v7_slab *choose_slab(struct slab_owner *owner, class_id cls)
{
    enum {
        LOOK_COUNT = 8
    };
    struct v7_slab *best = owner->v7_slabs[cls];
    if (best == NULL || best->pages[best->page_number].free_count != 0) {
        return best;
    }
    best->page_number = (uint8_t)best_page(best);
    struct span *span = best->span.next;
    for (int i = 1; i < LOOK_COUNT && span != NULL; i++, span = span->next) {
        struct v7_slab *slab = (struct v7_slab *)(void *)span;
        slab->page_number = (uint8_t)best_page(slab);
        if (page_score(slab, slab->page_number) > page_score(best, best->page_number)) {
            best = slab;
        }
    }
    unlink_slab(owner, best);
    span_list_push((struct span **)(void *)&owner->v7_slabs[cls], &best->span);
    return best;
}

static size_t take_run(struct v7_slab *slab, unsigned page, void **blocks, size_t want)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    size_t taken = 0;
    uint16_t index = LINK_END;
    while (taken < want && (index = take_of_page(slab, &slab->pages[page])) != LINK_END) {
        blocks[taken++] = (void *)(slab->span.base + index * block_bytes);
    }
    return taken;
}

static void unlink_if_full(struct slab_owner *owner, struct v7_slab *slab)
{
    if (slab->free_count == 0) {
        unlink_slab(owner, slab);
        slab->list = V7_FULL;
    }
}

// The limit forbids the page that would be the best: blocks of any page that is still there.
static HAK_COLD size_t take_of_any_page(struct slab_owner *owner, class_id cls, void **blocks,
                                        size_t want)
{
    size_t taken = 0;
    struct v7_slab *next = NULL;
    for (struct v7_slab *slab = owner->v7_slabs[cls]; slab != NULL && taken < want; slab = next) {
        next = (struct v7_slab *)(void *)slab->span.next;
        for (unsigned page = 0; page < page_count(); page++) {
            taken += take_run(slab, page, blocks + taken, want - taken);
        }
        unlink_if_full(owner, slab);
    }
    return taken;
}

static size_t take_of_class(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    size_t count = 0;
    do {
        struct v7_slab *slab = choose_slab(owner, cls);
        count = slab != NULL ? take_run(slab, slab->page_number, blocks + taken, want - taken) : 0;
        taken += count;
        if (count != 0) {
            unlink_if_full(owner, slab);
        }
    } while (count != 0 && taken < want);
    if (taken == 0 && owner->v7_slabs[cls] != NULL) {
        taken = take_of_any_page(owner, cls, blocks, want);
    }
    owner->classes[cls].free_count -= taken;
    owner->taken_bytes += taken * size_class_bytes(cls);
    owner->refill_count++;
    return taken;
}

size_t v7_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    size_t taken = 0;
    do {
        lock_take(owner->lock);
        taken = take_of_class(owner, cls, blocks, want);
        lock_give(owner->lock);
    } while (taken == 0 && add_slab(owner, cls));
    return taken;
}

// ---- Giving ---------------------------------------------------------------------------------------

// Dies on a block that is free already or that doesn't begin where a block does.
static void give_block(struct slab_owner *owner, struct v7_slab *slab, const void *block)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    size_t distance = (uintptr_t)block & (UNIT_BYTES - 1);
    size_t index = size_class_index(slab->cls, distance);
    if (unlikely(index >= slab->capacity || index * block_bytes != distance)) {
        die_misuse("free", block, 0);
    }
    if (unlikely(slab->links[index] != LINK_TAKEN)) {
        die_misuse("double free", block, block_bytes);
    }
    unsigned number = first_page_of(slab, index);
    struct v7_page *page = &slab->pages[number];
    slab->links[index] = page->head;
    page->head = (uint16_t)index;
    page->free_count++;
    slab->free_count++;
    if (page->free_count == first_index_in(slab, number + 1) - first_index_in(slab, number)) {
        owner->emptied_bytes += (size_t)1 << v7_page_shift();
    }
}

static void place(struct slab_owner *owner, struct v7_slab *slab)
{
    if (slab->free_count == slab->capacity) {
        unlink_slab(owner, slab);
        release(owner, slab);
    } else if (slab->list == V7_FULL && slab->free_count != 0) {
        link_slab(owner, slab);
    }
}

// Gives back the leading blocks that lie in one slab; returns how many.
size_t v7_flush(struct slab_owner *owner, void *const *blocks, size_t count)
{
    struct v7_slab *slab = slab_at(blocks[0]);
    uintptr_t number = (uintptr_t)blocks[0] >> UNIT_SHIFT;
    size_t given = 0;
    if (unlikely(page_map_entry((uintptr_t)blocks[0]) == 0)) {
        backend_die_unknown(blocks[0]);
    }
    do {
        give_block(owner, slab, blocks[given++]);
    } while (given < count && (uintptr_t)blocks[given] >> UNIT_SHIFT == number);
    owner->classes[slab->cls].free_count += given;
    owner->taken_bytes -= given * size_class_bytes(slab->cls);
    if (slab->list != V7_DETACHED) {
        place(owner, slab);
    }
    return given;
}

bool v7_block_is_free(const void *block)
{
    const struct v7_slab *slab = slab_at(block);
    return slab->links[size_class_index(slab->cls, (uintptr_t)block & (UNIT_BYTES - 1))] !=
           LINK_TAKEN;
}

size_t v7_former_bytes(const struct span *record, uintptr_t address)
{
    const struct v7_slab *slab = (const struct v7_slab *)(const void *)record;
    return size_class_bytes_at(slab->cls, address & (UNIT_BYTES - 1), slab->capacity);
}

bool v7_move(struct slab_owner *from, struct slab_owner *to, class_id cls)
{
    size_t free_count = 0;
    lock_take(from->lock);
    struct v7_slab *slab = from->v7_slabs[cls];
    if (slab != NULL) {
        free_count = slab->free_count;
        unlink_slab(from, slab);
        count_slab(from, slab, free_count, -1);
        // From here its blocks are freed to `to`, whose flushes count them in its sums.
        slab->list = V7_DETACHED;
        page_map_set(slab->span.base, 1, to->tag | cls);
    }
    lock_give(from->lock);
    if (slab == NULL) {
        return false;
    }
    lock_take(to->lock);
    count_slab(to, slab, free_count, 1);
    slab->list = V7_FULL;
    place(to, slab);
    lock_give(to->lock);
    return true;
}

// ---- For the purge --------------------------------------------------------------------------------

// A page is empty when all blocks that begin in it are free, and the one that reaches into it.
uint16_t v7_empty_pages(const struct v7_slab *slab)
{
    unsigned empty = 0;
    bool reaches_in_free = true;
    for (unsigned page = 0; page < page_count(); page++) {
        size_t first = first_index_in(slab, page);
        size_t end = first_index_in(slab, page + 1);
        bool is_empty = slab->pages[page].free_count == end - first && reaches_in_free;
        empty |= (unsigned)is_empty << page;
        reaches_in_free = end == 0 || slab->links[end - 1] != LINK_TAKEN;
    }
    return (uint16_t)(empty & ~(unsigned)slab->purged);
}

void v7_detach(struct slab_owner *owner, struct v7_slab *slab)
{
    unlink_slab(owner, slab);
    slab->list = V7_DETACHED;
    span_list_push((struct span **)(void *)&owner->v7_detached, &slab->span);
}

void v7_reattach(struct slab_owner *owner, struct v7_slab *slab)
{
    unlink_slab(owner, slab);
    slab->list = V7_FULL;
    place(owner, slab);
}
