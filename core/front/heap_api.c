// SPDX-License-Identifier: MIT
#include "front/heap_api.h"

#include "backend/large.h"
#include "front/free_slow.h"
#include "front/hardened.h"
#include "front/malloc_slow.h"
#include "harden/harden_mode.h"

#include <errno.h>
#include <string.h>

static void *try_take(struct heap *heap, size_t align_bytes, size_t bytes, bool *is_zero)
{
    *is_zero = false;
    bool is_padded = harden_pads();
    class_id cls = is_padded ? hardened_class(align_bytes, bytes)
                             : size_class_of_aligned(bytes + (bytes == 0), align_bytes);
    if (cls != 0) {
        void *block = heap_shared_take(heap, cls);
        if (unlikely(is_padded) && block != NULL) {
            hardened_arm(block, cls, bytes, KIND_MALLOC);
        }
        return block;
    }
    struct large_request request = {.bytes = bytes,
                                    .align_bytes = align_bytes,
                                    .owner_tag = heap->owner_tag,
                                    .owned = &heap->owned_large};
    return large_take(&request, is_zero);
}

static void *take(struct heap *heap, size_t align_bytes, size_t bytes, bool *is_zero)
{
    int attempt = 0;
    void *block = NULL;
    if (bytes >> ADDRESS_BITS == 0) {
        do {
            block = try_take(heap, align_bytes, bytes, is_zero);
        } while (block == NULL && malloc_make_room(bytes, &attempt));
    }
    if (block == NULL) {
        errno = ENOMEM;
    }
    return block;
}

void *heap_take(struct heap *heap, size_t align_bytes, size_t bytes)
{
    bool is_zero = false;
    return take(heap, align_bytes, bytes, &is_zero);
}

void *heap_take_zeroed(struct heap *heap, size_t count, size_t bytes)
{
    size_t total = 0;
    bool is_zero = false;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = take(heap, 1, total, &is_zero);
    return (block == NULL || is_zero) ? block : memset(block, 0, block_usable_bytes(block));
}
