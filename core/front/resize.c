// SPDX-License-Identifier: MIT
#include "front/resize.h"

#include "backend/large.h"
#include "front/free_fast.h"
#include "front/hardened.h"
#include "front/heap_api.h"
#include "front/malloc_slow.h"
#include "front/malloc_tiny_fast.h"
#include "harden/harden_mode.h"
#include "os/os_memory.h"
#include "thread/heap_registry.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
    SHRINK_IN_PLACE_BYTES = 128
};  // blocks up to this size never move to become smaller

// Is the block right as it is?  It may be up to twice as long as needed, for a slab's block, and by
// an eighth too long for a large one.
static bool fits(const void *block, size_t usable_bytes, size_t align_bytes, size_t bytes)
{
    if (bytes > usable_bytes || ((uintptr_t)block & (align_bytes - 1)) != 0) {
        return false;
    }
    if (usable_bytes > CLASSED_BYTES_MOST) {
        return bytes > CLASSED_BYTES_MOST && bytes > usable_bytes - usable_bytes / 8;
    }
    return usable_bytes <= SHRINK_IN_PLACE_BYTES || bytes > usable_bytes / 2;
}

// A first-class heap's blocks stay in it; all others go to the calling thread's heap.
static void *take_for(const void *old_block, size_t align_bytes, size_t bytes)
{
    struct heap *owner = heap_registry_lookup(page_entry_tag(page_map_lookup(old_block)));
    if (owner != NULL && owner->kind == HEAP_SHARED && owner != heap_pool && owner != heap_exit) {
        return heap_take(owner, align_bytes, bytes);
    }
    return align_bytes <= TINY_STEP_BYTES ? malloc_tiny_fast(bytes, KIND_MALLOC)
                                          : malloc_aligned(align_bytes, bytes, KIND_MALLOC);
}

static void *move_block(void *block, size_t usable_bytes, size_t align_bytes, size_t bytes)
{
    int saved_errno = errno;
    void *target = take_for(block, align_bytes, bytes);
    if (target == NULL) {
        // Programs don't expect that becoming smaller fails.
        bool will_do = bytes <= usable_bytes && ((uintptr_t)block & (align_bytes - 1)) == 0;
        errno = will_do ? saved_errno : errno;
        return will_do ? block : NULL;
    }
    memcpy(target, block, min_size(usable_bytes, bytes));
    free_fast(block, KIND_MALLOC);
    return target;
}

// A hardened process's large block: its pages stay, or move without being copied.  One that grows gets
// room to grow further where it is.
static void *resize_large_checked(void *block, const struct hardened_block *held, size_t bytes)
{
    if (bytes < held->asked_bytes) {
        memset((char *)block + bytes, 0, held->asked_bytes - bytes);
    }
    size_t room_bytes = bytes > held->asked_bytes ? bytes + bytes / 8 : bytes;
    void *resized = large_resize(block, room_bytes);
    if (resized == NULL && room_bytes != bytes) {
        resized = large_resize(block, bytes);
    }
    if (resized != NULL) {
        large_set_usable(resized, bytes);
        heap_purge_if_due(thread_heap);
    }
    return resized;
}

// In no slab, and not the start of a live large block, whose unit another's mapping may share: another
// allocator's, or a fault.
static bool is_unknown(const void *block)
{
    page_entry entry = page_map_lookup(block);
    unsigned cls = page_entry_class(entry);
    return (cls == 0 || cls >= CLASS_COUNT) && !large_is_live(entry, block);
}

static HAK_COLD void *resize_checked(void *block, size_t align_bytes, size_t bytes)
{
    if (unlikely(is_unknown(block))) {
        return move_block(block, unclassed_usable_bytes(block), align_bytes, bytes);
    }
    struct hardened_block held = hardened_look(block);
    if (fits(block, held.most_bytes, align_bytes, bytes)) {
        hardened_resize_in_place(block, &held, bytes);
        return block;
    }
    void *resized = held.is_large && bytes > CLASSED_BYTES_MOST && align_bytes <= os_page_bytes()
                        ? resize_large_checked(block, &held, bytes)
                        : NULL;
    if (resized == NULL) {
        resized = move_block(block, held.asked_bytes, align_bytes, bytes);
        if (resized == block) {
            hardened_resize_in_place(block, &held, bytes);
        }
    }
    return resized;
}

void *block_resize(void *block, size_t align_bytes, size_t bytes)
{
    if (block == NULL) {
        return align_bytes <= TINY_STEP_BYTES ? malloc_tiny_fast(bytes, KIND_MALLOC)
                                              : malloc_aligned(align_bytes, bytes, KIND_MALLOC);
    }
    if (bytes == 0) {
        free_fast(block, KIND_MALLOC);
        return NULL;
    }
    if (bytes > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    if (unlikely(harden_is_on())) {
        return resize_checked(block, align_bytes, bytes);
    }
    size_t usable_bytes = block_usable_bytes(block);
    if (fits(block, usable_bytes, align_bytes, bytes)) {
        return block;
    }
    bool is_large = large_is_live(page_map_lookup(block), block);
    if (is_large && bytes > CLASSED_BYTES_MOST && align_bytes <= os_page_bytes()) {
        void *resized = large_resize(block, bytes);
        if (resized != block || bytes < usable_bytes) {
            heap_purge_if_due(thread_heap);
        }
        if (resized != NULL || bytes <= usable_bytes) {
            return resized != NULL ? resized : block;
        }
    }
    return move_block(block, usable_bytes, align_bytes, bytes);
}
