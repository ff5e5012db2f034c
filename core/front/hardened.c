// SPDX-License-Identifier: MIT
#include "front/hardened.h"

#include "backend/backend.h"
#include "backend/large.h"
#include "front/free_slow.h"
#include "front/malloc_slow.h"
#include "harden/wipe.h"
#include "thread/heap_give.h"
#include "thread/quarantine.h"

#include <string.h>

// ---- Taking ---------------------------------------------------------------------------------------

// Looks at a block but for its first word, and makes it one that is handed out.
static HAK_HOT void arm(void *block, class_id cls, size_t asked_bytes, enum block_kind kind)
{
    size_t class_bytes = size_class_bytes(cls);
    if (unlikely(!harden_is_on())) {
        memset(block, 0, class_bytes);
    } else if (unlikely(!wipe_rest_is_clean(block, class_bytes))) {
        die_damaged(block, class_bytes - TRAILER_BYTES);
    }
    word_store(block, 0);
    trailer_arm(block, class_bytes, asked_bytes, kind);
}

// Not out of a bin, where the first word is a link.
static void arm_unlinked(void *block, class_id cls, size_t asked_bytes, enum block_kind kind)
{
    if (unlikely(harden_is_on() && word_load(block) != 0)) {
        die_damaged(block, size_class_bytes(cls) - TRAILER_BYTES);
    }
    arm(block, cls, asked_bytes, kind);
}

void hardened_arm(void *block, class_id cls, size_t asked_bytes, enum block_kind kind)
{
    arm_unlinked(block, cls, asked_bytes, kind);
}

static __attribute__((noinline)) void *take_missed(class_id cls, size_t align_bytes, size_t bytes,
                                                   enum block_kind kind)
{
    struct heap *heap = heap_of_thread();
    void *block = heap != NULL && heap_guard_is_due(heap)
                      ? malloc_guarded(heap, align_bytes, bytes, kind)
                      : NULL;
    if (likely(block == NULL)) {
        block = malloc_after_miss(cls);
        if (likely(block != NULL)) {
            arm_unlinked(block, cls, bytes, kind);
        }
    }
    return block;
}

// Without a heap yet, the bins are empty.
static HAK_HOT void *take_class(class_id cls, size_t align_bytes, size_t bytes,
                                enum block_kind kind)
{
    void *block = bin_pop_checked(thread_heap, cls);
    if (unlikely(block == NULL)) {
        return take_missed(cls, align_bytes, bytes, kind);
    }
    // All of the block behind it will be read.
    const char *next = (const char *)thread_heap->bins.head[cls];
    __builtin_prefetch(next);
    __builtin_prefetch(next + size_class_bytes(cls) - TRAILER_BYTES);
    arm(block, cls, bytes, kind);
    return block;
}

void *hardened_malloc(size_t bytes, enum block_kind kind)
{
    if (likely(bytes <= TINY_BYTES_MOST - TRAILER_BYTES)) {
        return take_class(size_class_of_tiny(bytes + TRAILER_BYTES), 1, bytes, kind);
    }
    if (likely(bytes <= CLASSED_BYTES_MOST - TRAILER_BYTES)) {
        return take_class(size_class_of(bytes + TRAILER_BYTES), 1, bytes, kind);
    }
    bool is_zero = false;
    return malloc_large(1, bytes, kind, &is_zero);
}

void *hardened_zeroed(size_t bytes)
{
    if (likely(bytes <= CLASSED_BYTES_MOST - TRAILER_BYTES)) {
        return take_class(size_class_of(bytes + TRAILER_BYTES), 1, bytes, KIND_MALLOC);
    }
    bool is_zero = false;
    void *block = malloc_large(1, bytes, KIND_MALLOC, &is_zero);
    return block == NULL || is_zero ? block : memset(block, 0, bytes);
}

class_id hardened_class(size_t align_bytes, size_t bytes)
{
    return bytes <= CLASSED_BYTES_MOST - TRAILER_BYTES
               ? size_class_of_aligned(bytes + TRAILER_BYTES, align_bytes)
               : 0;
}

void *hardened_aligned(size_t align_bytes, size_t bytes, enum block_kind kind)
{
    class_id cls = hardened_class(align_bytes, bytes);
    if (cls != 0) {
        return take_class(cls, align_bytes, bytes, kind);
    }
    bool is_zero = false;
    return malloc_large(align_bytes, bytes, kind, &is_zero);
}

// ---- Checking -------------------------------------------------------------------------------------

// A block of 0 bytes is one for messages, in which 0 means "not a block".
static size_t told_bytes(size_t asked_bytes)
{
    return max_size(asked_bytes, 1);
}

static const char *const take_names[KIND_COUNT] = {"malloc", "operator new", "operator new[]",
                                                   "operator new with an alignment",
                                                   "operator new[] with an alignment"};

static const char *const free_names[KIND_COUNT] = {"free", "operator delete", "operator delete[]",
                                                   "operator delete with an alignment",
                                                   "operator delete[] with an alignment"};

// What is wrong with a pointer into a slab that isn't a live block's: the trailer tells, once it is
// known that a block begins there.
static HAK_COLD _Noreturn void die_of_trailer(const void *pointer, size_t class_bytes)
{
    if (backend_bytes_at(pointer) == 0) {
        die_misuse("free", pointer, 0);
    }
    size_t most_bytes = class_bytes - TRAILER_BYTES;
    uint64_t code = trailer_read(pointer, class_bytes);
    if (trailer_is_freed(code, class_bytes)) {
        die_misuse("double free", pointer, told_bytes(most_bytes - trailer_slack(code)));
    }
    // 0: cleared since, with the page that it lies in, or not handed out since then.
    bool is_cleared = (code ^ trailer_mask(pointer)) == 0;
    die_misuse(is_cleared ? "double free" : "overflow", pointer, most_bytes);
}

// Does all of what would be a block at this address lie in slabs of the class?  Only then is there a
// trailer to look at.
static HAK_HOT bool has_trailer(const void *pointer, size_t class_bytes, unsigned cls)
{
    uintptr_t address = (uintptr_t)pointer;
    uintptr_t last = address + class_bytes - 1;
    return (address & (TINY_STEP_BYTES - 1)) == 0 &&
           (likely((address ^ last) >> UNIT_SHIFT == 0) ||
            page_entry_class(page_map_lookup((const void *)last)) == cls);
}

// What the trailer of a live block says, whose slack is untouched.  Dies otherwise.
static HAK_HOT uint64_t check_block(const void *pointer, unsigned cls)
{
    size_t class_bytes = size_class_bytes((class_id)cls);
    if (unlikely(!has_trailer(pointer, class_bytes, cls))) {
        die_misuse("free", pointer, 0);
    }
    uint64_t code = trailer_read(pointer, class_bytes);
    if (unlikely(!trailer_is_live(code, class_bytes))) {
        die_of_trailer(pointer, class_bytes);
    }
    if (unlikely(!slack_is_whole(pointer, class_bytes - TRAILER_BYTES, trailer_slack(code)))) {
        die_misuse("overflow", pointer,
                   told_bytes(class_bytes - TRAILER_BYTES - trailer_slack(code)));
    }
    return code;
}

static HAK_COLD _Noreturn void die_of_free(const void *pointer, size_t asked_bytes,
                                           enum block_kind taken, enum block_kind given,
                                           size_t given_bytes)
{
    if (taken != given) {
        die_wrong_kind(free_names[given], pointer, asked_bytes, take_names[taken]);
    }
    die_wrong_size(pointer, given_bytes, asked_bytes);
}

static struct hardened_block look_at_large(const void *pointer, enum block_kind kind,
                                           size_t given_bytes)
{
    struct large_view view = large_look(pointer);
    if (view.most_bytes != view.usable_bytes &&
        !slack_is_whole(pointer, view.most_bytes, view.most_bytes - view.usable_bytes)) {
        die_misuse("overflow", pointer, view.usable_bytes);
    }
    if (view.kind != kind || (given_bytes != BYTES_UNKNOWN && given_bytes != view.usable_bytes)) {
        die_of_free(pointer, view.usable_bytes, view.kind, kind, given_bytes);
    }
    return (struct hardened_block){
        .asked_bytes = view.usable_bytes, .most_bytes = view.most_bytes, .is_large = true};
}

struct hardened_block hardened_look(const void *pointer)
{
    unsigned cls = page_entry_class(page_map_lookup(pointer));
    if (cls == LARGE_CLASS) {
        return look_at_large(pointer, KIND_MALLOC, BYTES_UNKNOWN);
    }
    if (cls == 0 || cls >= CLASS_COUNT) {
        backend_die_unknown(pointer);
    }
    uint64_t code = check_block(pointer, cls);
    size_t most_bytes = size_class_bytes((class_id)cls) - TRAILER_BYTES;
    size_t asked_bytes = most_bytes - trailer_slack(code);
    if (trailer_kind(code) != KIND_MALLOC) {
        die_of_free(pointer, asked_bytes, trailer_kind(code), KIND_MALLOC, BYTES_UNKNOWN);
    }
    return (struct hardened_block){.asked_bytes = asked_bytes, .most_bytes = most_bytes};
}

size_t hardened_usable_bytes(const void *pointer)
{
    unsigned cls = page_entry_class(page_map_lookup(pointer));
    if (cls == 0 || cls >= CLASS_COUNT) {
        return unclassed_usable_bytes(pointer);
    }
    size_t class_bytes = size_class_bytes((class_id)cls);
    uint64_t code =
        has_trailer(pointer, class_bytes, cls) ? trailer_read(pointer, class_bytes) : UINT64_MAX;
    if (likely(trailer_is_live(code, class_bytes))) {
        return class_bytes - TRAILER_BYTES - trailer_slack(code);
    }
    if (harden_is_on()) {
        die_misuse("use", pointer, 0);
    }
    return class_bytes;
}

void hardened_resize_in_place(void *pointer, const struct hardened_block *block, size_t bytes)
{
    if (block->is_large) {
        large_set_usable(pointer, bytes);
    } else {
        trailer_arm(pointer, block->most_bytes + TRAILER_BYTES, bytes, KIND_MALLOC);
    }
}

void hardened_mark(void *pointer, enum block_kind kind)
{
    unsigned cls = page_entry_class(page_map_lookup(pointer));
    if (cls == LARGE_CLASS) {
        large_set_kind(pointer, kind);
    } else if (cls != 0 && cls < CLASS_COUNT) {
        size_t class_bytes = size_class_bytes((class_id)cls);
        trailer_write(pointer, class_bytes, trailer_slack(trailer_read(pointer, class_bytes)),
                      kind);
    }
}

// ---- Freeing --------------------------------------------------------------------------------------

// Not one of a class, or the gates aren't read yet.
static HAK_COLD void free_rest(void *pointer, unsigned cls, enum block_kind kind,
                               size_t given_bytes)
{
    if (pointer == NULL) {
        return;
    }
    if (!harden_is_on()) {
        size_t block_bytes = cls != LARGE_CLASS ? backend_bytes_at(pointer) : 0;
        if (block_bytes != 0) {
            memset(pointer, 0, block_bytes);
        }
    } else if (large_is_live(page_map_lookup(pointer), pointer)) {
        (void)look_at_large(pointer, kind, given_bytes);
        large_clear(pointer);
    }
    free_unchecked(pointer);  // dies of what is neither ours nor glibc's
}

// May a block of another heap wait?  Not one of a first-class heap, which may be destroyed meanwhile.
static bool may_wait(page_entry entry)
{
    const struct heap *owner = heap_registry_lookup(page_entry_tag(entry));
    return owner == heap_pool || owner == heap_exit || owner->kind != HEAP_SHARED;
}

// Where a block goes that the quarantine doesn't take.
static __attribute__((noinline)) void free_at_once(void *pointer, size_t class_bytes,
                                                   page_entry entry)
{
    struct heap *heap = heap_of_thread();
    struct quarantine *quarantine =
        heap != NULL ? atomic_load_explicit(&heap->quarantine, memory_order_relaxed) : NULL;
    if (quarantine != NULL && may_wait(entry)) {
        pointer = quarantine_swap(quarantine, class_bytes, pointer);
    }
    if (pointer == NULL) {
        return;
    }
    if (heap != NULL) {
        quarantine_release(heap, pointer);
    } else {
        free_unchecked(pointer);
    }
}

void hardened_free(void *pointer, enum block_kind kind, size_t given_bytes)
{
    struct heap *heap = thread_heap;
    page_entry entry = page_map_lookup(pointer);
    unsigned cls = page_entry_class(entry);
    if (unlikely(cls == 0 || cls >= CLASS_COUNT || !harden_is_on())) {
        free_rest(pointer, cls, kind, given_bytes);
        return;
    }
    size_t class_bytes = size_class_bytes((class_id)cls);
    struct quarantine *quarantine = atomic_load_explicit(&heap->quarantine, memory_order_relaxed);
    if (likely(quarantine != NULL)) {
        quarantine_look_ahead(quarantine, class_bytes);
    }
    uint64_t code = check_block(pointer, cls);
    size_t asked_bytes = class_bytes - TRAILER_BYTES - trailer_slack(code);
    if (unlikely(trailer_kind(code) != kind ||
                 (given_bytes != BYTES_UNKNOWN && given_bytes != asked_bytes))) {
        die_of_free(pointer, asked_bytes, trailer_kind(code), kind, given_bytes);
    }
    trailer_write(pointer, class_bytes, trailer_slack(code), KIND_FREED);
    wipe_block(pointer, class_bytes);
    if (unlikely(quarantine == NULL || (entry ^ heap->slabs.tag) >= CLASS_COUNT)) {
        free_at_once(pointer, class_bytes, entry);
        return;
    }
    void *former = quarantine_swap(quarantine, class_bytes, pointer);
    if (likely(former != NULL)) {
        quarantine_release(heap, former);
    }
}

void hardened_free_aligned(void *pointer, size_t align_bytes, enum block_kind kind,
                           size_t given_bytes)
{
    if (unlikely(((uintptr_t)pointer & (align_bytes - 1)) != 0)) {
        die_misuse("free with a wrong alignment", pointer, hardened_usable_bytes(pointer));
    }
    hardened_free(pointer, kind, given_bytes);
}
