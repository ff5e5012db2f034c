// SPDX-License-Identifier: MIT
#include "front/free_slow.h"

#include "backend/glibc_heap.h"
#include "backend/large.h"
#include "box/tiny_free_route_cache_env_box.h"
#include "front/hardened.h"
#include "harden/harden_mode.h"
#include "thread/heap_give.h"

// The gated front's free: all backends have the same bins, so a route only decides where the free is
// counted.  Blocks of MID_V3 are no heap's own and don't come here.
static void free_by_route(struct heap *heap, class_id cls, void *block)
{
    front_count(&heap->gated.counters.frees[tiny_free_route_get(heap, cls)]);
    heap_give_own(heap, cls, block);
}

// Other mappings may share a unit with the start of a large block.
static HAK_COLD void free_large(void *pointer, page_entry entry)
{
    if (unlikely(!large_is_live(entry, pointer)) && glibc_heap_give(pointer)) {
        return;
    }
    large_give(pointer);
    heap_purge_if_due(thread_heap);
}

// Blocks of a class that is only being freed come through here by the thousand.  False: not one of
// those, or no room, or freed twice in a row.
static inline bool collect_own(void *pointer)
{
    struct heap *heap = thread_heap;
    page_entry cls = page_map_covers((uintptr_t)pointer)
                         ? page_map_entry((uintptr_t)pointer) ^ heap->match_tag
                         : CLASS_COUNT;
    return cls < CLASS_COUNT && bin_is_collecting(heap, cls) && heap->bins.room[cls] == 0 &&
           pointer != heap->bins.head[cls] && bin_collect(heap, cls, pointer);
}

__attribute__((noinline)) void free_unchecked(void *pointer)
{
    if (pointer == NULL) {
        return;
    }
    struct heap *heap = heap_of_thread();
    // Looked up only now: to get its heap, the thread may have adopted the one that owns the block.
    page_entry entry = page_map_lookup(pointer);
    page_entry cls = heap != NULL ? entry ^ heap->slabs.tag : CLASS_COUNT;
    if (likely(cls != 0 && cls < CLASS_COUNT) && heap->kind == HEAP_THREAD) {
        if (heap->front == FRONT_GATED && cls < TINY_CLASS_COUNT) {
            free_by_route(heap, (class_id)cls, pointer);
        } else {
            heap_give_own(heap, (class_id)cls, pointer);
        }
    } else if (page_entry_class(entry) == LARGE_CLASS) {
        free_large(pointer, entry);
    } else {
        heap_give_foreign(heap, pointer, entry);
    }
}

void free_slow(void *pointer, enum block_kind kind)
{
    if (unlikely(harden_pads())) {
        hardened_free(pointer, kind, BYTES_UNKNOWN);
    } else if (!collect_own(pointer)) {
        free_unchecked(pointer);
    }
}

size_t unclassed_usable_bytes(const void *pointer)
{
    page_entry entry = page_map_lookup(pointer);
    if (large_is_live(entry, pointer)) {
        return large_bytes(pointer);
    }
    size_t bytes = glibc_heap_usable_bytes(pointer);
    if (bytes != 0) {
        return bytes;
    }
    if (page_entry_class(entry) == LARGE_CLASS) {
        return large_bytes(pointer);  // dies with what is known of it
    }
    die_misuse("use", pointer, 0);
}

size_t block_usable_bytes(const void *pointer)
{
    if (unlikely(harden_pads())) {
        return hardened_usable_bytes(pointer);
    }
    unsigned cls = page_entry_class(page_map_lookup(pointer));
    return likely(cls != 0 && cls < CLASS_COUNT) ? size_class_bytes((class_id)cls)
                                                 : unclassed_usable_bytes(pointer);
}
