// libhakmem_record.so: the allocation functions of a program that is being recorded.
// SPDX-License-Identifier: MIT
//
// Each does what the next allocator does, and tells record_buffer.  The order of the two is what
// trace_format.h promises: a block's death is noted before it is given back, its birth after it
// was got.
#include "record_buffer.h"
#include "record_next.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uint64_t name_of(const void *block)
{
    return (uintptr_t)block;
}

static void note_birth(enum trace_entry entry, const void *block, size_t bytes, size_t align)
{
    if (block != NULL) {
        record_buffer_add((struct trace_event){
            .entry = (uint8_t)entry,
            .block = name_of(block),
            .bytes = bytes,
            .align_shift = align > 0 ? (uint8_t)__builtin_ctzl(align) : 0,
        });
    }
}

EXPORT void *malloc(size_t bytes)
{
    bool is_recorded = record_buffer_enter();
    void *block = record_next.malloc(bytes);
    if (is_recorded) {
        note_birth(TRACE_MALLOC, block, bytes, 0);
        record_buffer_leave();
    }
    return block;
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    bool is_recorded = record_buffer_enter();
    void *block = record_next.calloc(count, bytes);
    if (is_recorded) {
        note_birth(TRACE_CALLOC, block, count * bytes, 0);
        record_buffer_leave();
    }
    return block;
}

static void free_next(void *block)
{
    if (!record_next_is_early(block)) {
        record_next.free(block);
    }
}

EXPORT void free(void *block)
{
    if (block == NULL) {
        return;
    }
    if (!record_buffer_enter()) {
        free_next(block);
        return;
    }
    record_buffer_add((struct trace_event){.entry = TRACE_FREE, .block = name_of(block)});
    free_next(block);
    record_buffer_leave();
}

// The early ones are small, and what lies behind one is ours.
static void *move_early(const void *block, size_t bytes)
{
    void *moved = malloc(bytes);
    for (size_t i = 0; moved != NULL && i < bytes; i++) {
        const char *byte = (const char *)block + i;
        ((char *)moved)[i] = '\0';
        if (record_next_is_early(byte)) {
            ((char *)moved)[i] = *byte;
        }
    }
    return moved;
}

EXPORT void *realloc(void *block, size_t bytes)
{
    if (record_next_is_early(block)) {
        return move_early(block, bytes);
    }
    if (!record_buffer_enter()) {
        return record_next.realloc(block, bytes);
    }
    struct trace_event event = {
        .entry = TRACE_REALLOC, .old_block = name_of(block), .bytes = bytes};
    // Of no size: the C library's frees the block; the note comes first, as it must for a free.
    if (block != NULL && bytes == 0) {
        record_buffer_add((struct trace_event){.entry = TRACE_FREE, .block = name_of(block)});
        event.old_block = 0;
    }
    event.given_up = record_buffer_moment();
    void *moved = record_next.realloc(block, bytes);
    event.block = name_of(moved);
    if (moved != NULL) {
        record_buffer_add(event);
    }
    record_buffer_leave();
    return moved;
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all_bytes = 0;
    if (__builtin_mul_overflow(count, bytes, &all_bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, all_bytes);
}

EXPORT void *memalign(size_t align, size_t bytes)
{
    bool is_recorded = record_buffer_enter();
    void *block = record_next.memalign(align, bytes);
    if (is_recorded) {
        note_birth(TRACE_MEMALIGN, block, bytes, align);
        record_buffer_leave();
    }
    return block;
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    bool is_recorded = record_buffer_enter();
    void *block = record_next.aligned_alloc(align, bytes);
    if (is_recorded) {
        note_birth(TRACE_ALIGNED_ALLOC, block, bytes, align);
        record_buffer_leave();
    }
    return block;
}

EXPORT int posix_memalign(void **block, size_t align, size_t bytes)
{
    bool is_recorded = record_buffer_enter();
    int error = record_next.posix_memalign(block, align, bytes);
    if (is_recorded) {
        note_birth(TRACE_POSIX_MEMALIGN, error == 0 ? *block : NULL, bytes, align);
        record_buffer_leave();
    }
    return error;
}

EXPORT void *valloc(size_t bytes)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), bytes);
}

EXPORT void *pvalloc(size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - page_bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page_bytes, (bytes + page_bytes - 1) & ~(page_bytes - 1));
}

// Behind the destructors of the program; what other threads do from now on isn't recorded.
__attribute__((destructor)) static void finish_at_exit(void)
{
    record_buffer_finish();
}

static _Noreturn void leave(int status)
{
    record_buffer_finish();
    while (true) {
        (void)syscall(SYS_exit_group, status);
    }
}

// Shells leave so.
EXPORT void _exit(int status)
{
    leave(status);
}

EXPORT void _Exit(int status)
{
    leave(status);
}
