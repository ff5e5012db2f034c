// SPDX-License-Identifier: MIT
#include "front/resize.h"

#include "backend/large.h"
#include "front/free_fast.h"
#include "front/heap_api.h"
#include "front/malloc_slow.h"
#include "front/malloc_tiny_fast.h"
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
    return align_bytes <= TINY_STEP_BYTES ? malloc_tiny_fast(bytes)
                                          : malloc_aligned(align_bytes, bytes);
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
    free_fast(block);
    return target;
}

void *block_resize(void *block, size_t align_bytes, size_t bytes)
{
    if (block == NULL) {
        return align_bytes <= TINY_STEP_BYTES ? malloc_tiny_fast(bytes)
                                              : malloc_aligned(align_bytes, bytes);
    }
    if (bytes == 0) {
        free_fast(block);
        return NULL;
    }
    if (bytes > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
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
