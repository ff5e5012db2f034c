// SPDX-License-Identifier: MIT
#include "backend/slab.h"

#include "backend/slab_purge.h"
#include "backend/wipe_span.h"
#include "base/bit_runs.h"
#include "base/check.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "region/page_heap.h"
#include "region/record_pool.h"
#include "stats/budget.h"

#include <string.h>

enum {
    BITMAP_STORE_BYTES = UNIT_BYTES / TINY_STEP_BYTES / 8,
    COLOUR_BYTES_MOST = 4096,
};

static struct slab **list_of(struct slab *slab)
{
    struct slab_owner *owner = slab->owner;
    return slab->list == SLAB_DETACHED ? &owner->detached
                                       : &owner->classes[slab->cls].list[slab->list];
}

static void unlink_slab(struct slab *slab)
{
    span_list_remove((struct span **)(void *)list_of(slab), &slab->span);
}

static void link_slab(struct slab *slab, enum slab_list list)
{
    slab->list = (uint8_t)list;
    span_list_push((struct span **)(void *)list_of(slab), &slab->span);
}

static enum slab_list list_for(const struct slab *slab)
{
    size_t free_count = slab->free_count;
    if (free_count > slab->capacity / 2u) {
        return SLAB_MOSTLY_FREE;
    }
    if (free_count > slab->capacity / 4u) {
        return SLAB_HALF_USED;
    }
    return free_count != 0 ? SLAB_MOSTLY_USED : SLAB_FULL;
}

// Adds a slab to its owner's sums, or takes it out, as one with `free_count` free blocks.
static void count_slab(const struct slab *slab, size_t free_count, int sign)
{
    struct slab_class *class = &slab->owner->classes[slab->cls];
    class->slab_count += (size_t)sign;
    class->block_count += (size_t)sign * slab->capacity;
    class->free_count += (size_t)sign * free_count;
    slab->owner->taken_bytes +=
        (size_t)sign * (slab->capacity - free_count) * size_class_bytes(slab->cls);
}

// The slab is in no list.
static void release(struct slab *slab)
{
    count_slab(slab, slab->free_count, -1);
    budget_commit_anyway(slab_purged_bytes(slab));  // the page heap takes it for dirty
    page_heap_give(&slab->span);
}

// Puts a slab that is in no list where it belongs.
static void place(struct slab *slab)
{
    if (slab->free_count == slab->capacity) {
        release(slab);
    } else {
        link_slab(slab, list_for(slab));
    }
}

// A detached slab stays where it is.
static void replace_slow(struct slab *slab)
{
    if (slab->list == SLAB_DETACHED) {
        return;
    }
    unlink_slab(slab);
    place(slab);
}

// Called when the free count has changed.
static inline void replace(struct slab *slab)
{
    if (unlikely(slab->free_count == slab->capacity || list_for(slab) != slab->list)) {
        replace_slow(slab);
    }
}

// Moves the blocks of successive slabs to different cache sets, as far as the slack at the end of
// the slab allows, in steps that keep every block as aligned as its size.
static size_t next_colour(struct slab_owner *owner, class_id cls, size_t slack_bytes)
{
    size_t step = min_size(largest_power_dividing(size_class_bytes(cls)), COLOUR_BYTES_MOST);
    if (slack_bytes < step || size_class_bytes(cls) > TINY_BYTES_MOST) {
        return 0;
    }
    step = max_size(step, 64);
    return align_down((owner->colour++ * 64) % (slack_bytes + 1), step);
}

// A span with room for a bitmap of `capacity` bits, or NULL.
static struct slab *take_span(size_t unit_count, size_t capacity)
{
    struct slab *slab = (struct slab *)(void *)page_heap_take(unit_count);
    if (slab == NULL) {
        return NULL;
    }
    wipe_span(&slab->span);
    slab->bitmap = slab->inline_bits;
    if (capacity > 64 * SLAB_INLINE_WORDS) {
        if (slab->span.bitmap_store == NULL) {
            uint64_t *spare = page_heap_take_bitmap();
            slab->span.bitmap_store = spare != NULL ? spare : record_take(BITMAP_STORE_BYTES);
        }
        slab->bitmap = slab->span.bitmap_store;
        if (slab->bitmap == NULL) {
            page_heap_give(&slab->span);
            return NULL;
        }
    }
    return slab;
}

// A class that has filled a few slabs will fill the next: its pages are asked for at once, which costs
// one system call instead of a fault for each.  Read without the lock: it is only a guess.
__attribute__((no_sanitize_thread)) static bool slab_is_hot(const struct slab_owner *owner,
                                                            class_id cls)
{
    enum {
        SLABS_OF_A_HOT_CLASS = 4
    };
    return owner->classes[cls].slab_count >= SLABS_OF_A_HOT_CLASS;
}

bool slab_add(struct slab_owner *owner, class_id cls, enum backend_id backend)
{
    size_t bytes = size_class_slab_units(cls) * UNIT_BYTES;
    size_t capacity = bytes / size_class_bytes(cls);
    size_t unit_count = bytes / UNIT_BYTES;
    struct slab *slab = take_span(unit_count, capacity);
    if (slab == NULL) {
        return false;
    }
    if (!slab->span.is_dirty && unit_count == 1 && slab_is_hot(owner, cls)) {
        os_populate((void *)slab->span.base, UNIT_BYTES);
    }
    lock_take(owner->lock);
    slab->first =
        slab->span.base + next_colour(owner, cls, bytes - capacity * size_class_bytes(cls));
    slab->capacity = (uint16_t)capacity;
    slab->free_count = (uint16_t)capacity;
    slab->search_word = 0;
    slab->span.backend = (uint8_t)backend;
    slab->cls = cls;
    slab->purged = 0;
    slab->pending = 0;
    slab->owner = owner;
    bits_set_first(slab->bitmap, capacity);
    count_slab(slab, capacity, 1);
    link_slab(slab, SLAB_MOSTLY_FREE);
    page_map_set(slab->span.base, slab->span.unit_count, owner->tag | cls);
    lock_give(owner->lock);
    return true;
}

// What marking a block free needs to know of its slab, so that a loop keeps it in registers.
struct slab_shape {
    uint64_t *bitmap;
    uintptr_t first;
    size_t capacity;
    size_t block_bytes;
    uint64_t reciprocal;
};

static inline struct slab_shape shape_of(const struct slab *slab)
{
    return (struct slab_shape){.bitmap = slab->bitmap,
                               .first = slab->first,
                               .capacity = slab->capacity,
                               .block_bytes = size_class_bytes(slab->cls),
                               .reciprocal = class_reciprocal_table[slab->cls]};
}

// Marks a block free and returns its index.  Dies on one that is free already or that doesn't begin
// where a block does.
static inline size_t give_block(const struct slab_shape *shape, const void *block)
{
    size_t distance = (uintptr_t)block - shape->first;
    size_t index = (size_t)((distance * shape->reciprocal) >> RECIPROCAL_SHIFT);
    if (unlikely(index >= shape->capacity || index * shape->block_bytes != distance)) {
        die_misuse("free", block, 0);
    }
    uint64_t bit = 1ull << (index % 64);
    uint64_t word = shape->bitmap[index / 64];
    if (unlikely((word & bit) != 0)) {
        die_misuse("double free", block, shape->block_bytes);
    }
    shape->bitmap[index / 64] = word | bit;
    return index;
}

static HAK_COLD void undo_take(struct slab *slab, void *const *blocks, size_t taken)
{
    struct slab_shape shape = shape_of(slab);
    for (size_t i = 0; i < taken; i++) {
        (void)give_block(&shape, blocks[i]);
    }
    slab->free_count = (uint16_t)(slab->free_count + taken);
    slab->search_word = 0;
}

// Takes blocks of one slab, of which at least one is free.  0: its pages were purged, and the limit
// doesn't allow them again.
static size_t take_blocks(struct slab *slab, void **blocks, size_t want)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    size_t taken = 0;
    size_t word = slab->search_word;
    want = min_size(want, slab->free_count);
    while (taken < want) {
        uint64_t bits = slab->bitmap[word];
        if (bits == 0) {
            word++;
            continue;
        }
        uintptr_t word_start = slab->first + word * 64 * block_bytes;
        while (bits != 0 && taken < want) {
            blocks[taken++] = (void *)(word_start + (size_t)__builtin_ctzll(bits) * block_bytes);
            bits &= bits - 1;
        }
        slab->bitmap[word] = bits;
    }
    slab->search_word = (uint16_t)word;
    slab->free_count = (uint16_t)(slab->free_count - taken);
    if (unlikely(slab->purged != 0) && !slab_unpurge(slab, blocks, taken)) {
        undo_take(slab, blocks, taken);
        return 0;
    }
    return taken;
}

static struct slab *fullest_slab(const struct slab_class *class)
{
    for (int list = 0; list < SLAB_LIST_COUNT_PARTIAL; list++) {
        if (class->list[list] != NULL) {
            return class->list[list];
        }
    }
    return NULL;
}

// Takes blocks of a slab that touch no purged page.
static size_t take_resident(struct slab *slab, void **blocks, size_t want)
{
    size_t block_bytes = size_class_bytes(slab->cls);
    size_t taken = 0;
    want = min_size(want, slab_resident_free_count(slab));
    for (size_t word = slab->search_word; taken < want; word++) {
        uintptr_t word_start = slab->first + word * 64 * block_bytes;
        uint64_t left = slab->bitmap[word];
        for (; left != 0 && taken < want; left &= left - 1) {
            size_t bit = (size_t)__builtin_ctzll(left);
            blocks[taken] = (void *)(word_start + bit * block_bytes);
            if (slab_block_is_resident(slab, blocks[taken])) {
                slab->bitmap[word] &= ~(1ull << bit);
                taken++;
            }
        }
    }
    slab->free_count = (uint16_t)(slab->free_count - taken);
    return taken;
}

// The limit allows no more pages: looks for blocks whose pages are still there.  As many at a time as
// are wanted, because a program at its limit passes by many slabs that have none.
static HAK_COLD size_t take_resident_of_class(struct slab_class *class, void **blocks, size_t want)
{
    size_t taken = 0;
    for (int list = 0; list < SLAB_LIST_COUNT_PARTIAL; list++) {
        struct slab *next = NULL;
        for (struct slab *slab = class->list[list]; slab != NULL && taken < want; slab = next) {
            next = (struct slab *)(void *)slab->span.next;
            size_t count = take_resident(slab, blocks + taken, want - taken);
            if (count != 0) {
                replace(slab);
            }
            taken += count;
        }
    }
    return taken;
}

static size_t take_from_class(struct slab_class *class, void **blocks, size_t want)
{
    struct slab *slab = fullest_slab(class);
    if (slab == NULL) {
        return 0;
    }
    size_t taken = take_blocks(slab, blocks, want);
    if (likely(taken != 0)) {
        replace(slab);
        return taken;
    }
    return take_resident_of_class(class, blocks, want);
}

size_t slab_refill(struct slab_owner *owner, class_id cls, void **blocks, size_t want)
{
    struct slab_class *class = &owner->classes[cls];
    size_t taken = 0;
    size_t count = 0;
    while (taken < want && (count = take_from_class(class, blocks + taken, want - taken)) != 0) {
        taken += count;
    }
    class->free_count -= taken;
    owner->taken_bytes += taken * size_class_bytes(cls);
    owner->refill_count++;
    return taken;
}

// Quickly says no for most blocks: of blocks of up to 64 bytes a page holds a whole word of bits, so
// all of the word must be set.  The last word of the bitmap is never full.
static inline bool may_have_emptied(const struct slab_shape *shape, size_t index)
{
    enum {
        WORD_OF_A_PAGE_BYTES = 64
    };
    return shape->block_bytes > WORD_OF_A_PAGE_BYTES || shape->bitmap[index / 64] == ~0ull ||
           index / 64 == shape->capacity / 64;
}

// Gives back the leading blocks that lie in one unit of the slab; returns how many.
static size_t give_run(struct slab_owner *owner, struct slab *slab, void *const *blocks,
                       size_t count)
{
    struct slab_shape shape = shape_of(slab);
    uintptr_t unit = (uintptr_t)blocks[0] >> UNIT_SHIFT;
    bool is_counting = slab->list >= SLAB_HALF_USED;
    size_t lowest_index = SIZE_MAX;
    size_t emptied_bytes = 0;
    size_t given = 0;
    hak_assert(slab->owner == owner);
    do {
        const void *block = blocks[given++];
        size_t index = give_block(&shape, block);
        lowest_index = min_size(lowest_index, index);
        if (is_counting && may_have_emptied(&shape, index)) {
            emptied_bytes += slab_emptied_bytes(slab, block);
        }
    } while (given < count && (uintptr_t)blocks[given] >> UNIT_SHIFT == unit);
    slab->free_count = (uint16_t)(slab->free_count + given);
    slab->search_word = (uint16_t)min_size(slab->search_word, lowest_index / 64);
    owner->classes[slab->cls].free_count += given;
    owner->taken_bytes -= given * shape.block_bytes;
    owner->emptied_bytes += emptied_bytes;
    replace(slab);
    return given;
}

size_t slab_flush(struct slab_owner *owner, void *const *blocks, size_t count)
{
    enum {
        PREFETCH_AHEAD = 8
    };
    size_t given = 0;
    struct slab *slab = slab_of(blocks[0]);
    uint8_t backend = slab->span.backend;
    do {
        size_t ahead = min_size(given + PREFETCH_AHEAD, count - 1);
        __builtin_prefetch(span_of_unit((uintptr_t)blocks[ahead]), 1);
        given += give_run(owner, slab, blocks + given, count - given);
        slab = given < count ? slab_of(blocks[given]) : NULL;
    } while (slab != NULL && slab->span.backend == backend);
    return given;
}

bool slab_move(struct slab_owner *from, struct slab_owner *to, class_id cls)
{
    size_t free_count = 0;
    lock_take(from->lock);
    struct slab *slab = fullest_slab(&from->classes[cls]);
    if (slab != NULL) {
        free_count = slab->free_count;
        unlink_slab(slab);
        count_slab(slab, free_count, -1);
        slab->owner = to;
        slab->list = SLAB_DETACHED;
        // From here blocks of the slab are freed to `to`, whose flushes only set bits in it and
        // count those blocks in its sums.
        page_map_set(slab->span.base, slab->span.unit_count, to->tag | cls);
    }
    lock_give(from->lock);
    if (slab == NULL) {
        return false;
    }
    lock_take(to->lock);
    count_slab(slab, free_count, 1);
    place(slab);
    lock_give(to->lock);
    return true;
}

bool slab_block_is_free(const void *block)
{
    const struct slab *slab = slab_of(block);
    size_t index = size_class_index(slab->cls, (uintptr_t)block - slab->first);
    return (slab->bitmap[index / 64] >> (index % 64) & 1) != 0;
}

size_t slab_former_bytes(const struct span *record, uintptr_t address)
{
    const struct slab *slab = (const struct slab *)(const void *)record;
    return size_class_bytes_at(slab->cls, address - slab->first, slab->capacity);
}

void slab_detach(struct slab *slab)
{
    unlink_slab(slab);
    link_slab(slab, SLAB_DETACHED);
}

void slab_reattach(struct slab *slab)
{
    unlink_slab(slab);
    place(slab);
}

void slab_release_all(struct slab_owner *owner)
{
    slab_purge_forget(owner);
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        for (int list = 0; list < SLAB_LIST_COUNT; list++) {
            struct slab *slab = NULL;
            while ((slab = owner->classes[cls].list[list]) != NULL) {
                unlink_slab(slab);
                release(slab);
            }
        }
    }
}
