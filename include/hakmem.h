// hakmem: the prefixed interface of the allocator.
// SPDX-License-Identifier: MIT
//
// The libc names (malloc, free, ...) and these functions serve the same heap: a block obtained
// through one set may be released through the other.  Sizes and alignments are in bytes.
//
// Unless a function says otherwise:
//   thread safety   any thread may call it at any time; a block may be freed by any thread.
//   signal safety   none is async-signal-safe, as malloc isn't.
//   errors          a function that returns a pointer returns NULL and sets errno to ENOMEM when
//                   memory or the heap limit is reached, or when the size exceeds PTRDIFF_MAX.
//   errno           is left alone on success, and always by the functions that free.
//   misuse          a double free or a pointer that is not a block ends the process with one line
//                   on standard error ("hakmem: double free of 0x..., a 48-byte block").
#ifndef HAKMEM_H
#define HAKMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAK_VERSION_MAJOR 0
#define HAK_VERSION_MINOR 1
#define HAK_VERSION_PATCH 0
#define HAK_VERSION       "0.1.0"

#define HAK_API __attribute__((visibility("default")))

// The function looks at the address only, so it may point to what isn't initialised.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#    define HAK_UNREAD __attribute__((access(none, 1)))
#else
#    define HAK_UNREAD
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library that is loaded, as "major.minor.patch"; compare with HAK_VERSION.
HAK_API const char *hak_version(void);

// ---- Blocks -------------------------------------------------------------------------------------

// As malloc.  `bytes` may be 0: the block is then distinct and must be freed.  Aligned to 16.
HAK_API void *hak_malloc(size_t bytes) __attribute__((malloc, alloc_size(1), warn_unused_result));

// As calloc: `count` times `bytes`, zeroed.  ENOMEM when the product overflows.
HAK_API void *hak_calloc(size_t count, size_t bytes)
    __attribute__((malloc, alloc_size(1, 2), warn_unused_result));

// As realloc: on failure NULL is returned and the old block is untouched.  `block` may be NULL.
// With `bytes` 0 and a block, the block is freed and NULL returned, as glibc does.
// The result is aligned to 16, whatever the old block was aligned to.
HAK_API void *hak_realloc(void *block, size_t bytes)
    __attribute__((alloc_size(2), warn_unused_result));

// hak_realloc of `count` times `bytes`; ENOMEM when the product overflows.
HAK_API void *hak_reallocarray(void *block, size_t count, size_t bytes)
    __attribute__((alloc_size(2, 3), warn_unused_result));

// hak_realloc that keeps the tail zeroed: what lies past `old_bytes` (the size that the caller
// used so far, at most the usable size, else EINVAL) up to the new usable size reads as zero.
HAK_API void *hak_rezalloc(void *block, size_t old_bytes, size_t bytes)
    __attribute__((alloc_size(3), warn_unused_result));

// The same for arrays; ENOMEM when a product overflows.
HAK_API void *hak_recalloc(void *block, size_t old_count, size_t count, size_t bytes)
    __attribute__((alloc_size(3, 4), warn_unused_result));

// A block at a multiple of `alignment`, a power of two (else EINVAL).  Free it with hak_free.
HAK_API void *hak_aligned_alloc(size_t alignment, size_t bytes)
    __attribute__((malloc, alloc_size(2), alloc_align(1), warn_unused_result));

// hak_realloc whose result stays aligned to `alignment`, a power of two (else EINVAL).
HAK_API void *hak_aligned_realloc(void *block, size_t alignment, size_t bytes)
    __attribute__((alloc_size(3), alloc_align(2), warn_unused_result));

// As posix_memalign: 0, EINVAL or ENOMEM; *block is written on success only, errno never.
HAK_API int hak_posix_memalign(void **block, size_t alignment, size_t bytes)
    __attribute__((nonnull(1), warn_unused_result));

// As free.  NULL is allowed.  Keeps errno.
HAK_API void hak_free(void *block);

// As C23's free_sized and free_aligned_sized.  The sizes are hints that are not relied on: a wrong
// one never harms the heap.
HAK_API void hak_free_sized(void *block, size_t bytes);
HAK_API void hak_free_aligned_sized(void *block, size_t alignment, size_t bytes);

// Fills blocks[0 .. count) with blocks of `bytes` bytes and returns how many it could get; fewer
// than `count` only when memory is out (errno ENOMEM).
HAK_API size_t hak_batch_alloc(size_t bytes, void **blocks, size_t count)
    __attribute__((nonnull(2), warn_unused_result));

// Frees blocks[0 .. count), of any sizes; NULL entries are skipped.  Keeps errno.
HAK_API void hak_batch_free(void **blocks, size_t count);

// ---- Questions ----------------------------------------------------------------------------------

// The bytes that may be used in `block`: at least what was asked for.  0 for NULL.
HAK_API size_t hak_usable_size(const void *block);

// The usable size that a request of `bytes` would get; 0 when it would exceed PTRDIFF_MAX.
HAK_API size_t hak_good_size(size_t bytes);

// True when `address` lies in memory that this heap serves blocks from: the start of a large block
// or any place in a run of smaller ones.  It says nothing of whether the block there is live.
HAK_API bool hak_owns(const void *address) HAK_UNREAD;

// ---- Memory and its return ----------------------------------------------------------------------

// Returns free pages to the system until at most `keep_bytes` of freed memory stay; the calling
// thread's own stock and those of ended threads are emptied first.  Returns the bytes given back.
HAK_API size_t hak_trim(size_t keep_bytes);

// Empties the calling thread's stock of free blocks, for instance before it sleeps for long.
HAK_API void hak_thread_flush(void);

// Called when an allocation would pass the heap limit and purging did not help.  `wanted_bytes` is
// what is missing.  Runs on the allocating thread outside all locks and may call any function here,
// hak_free above all; return true to have the allocation tried once more.
typedef bool hak_limit_callback(size_t wanted_bytes, void *context);

// The heap limit in bytes, counting mapped minus purged memory, our own records included; 0 means
// none.  It starts as the gate HAKMEM_LIMIT says.  Returns the limit before the call.
HAK_API size_t hak_limit_set(size_t limit_bytes);
HAK_API size_t hak_limit_get(void);

// Sets the callback (NULL: none).  `context` is handed to it.
HAK_API void hak_limit_set_callback(hak_limit_callback *callback, void *context);

// ---- Figures ------------------------------------------------------------------------------------

// Set struct_bytes to sizeof(struct hak_stats) before the call: a library with a longer struct
// fills only what the caller knows, one with a shorter struct zeroes the rest.  Figures of other
// threads are taken without stopping them: exact when they are idle, close when they are not.
struct hak_stats {
    size_t struct_bytes;
    size_t live_bytes;       // in blocks that the program holds, by usable size
    size_t live_blocks;      //
    size_t large_bytes;      // the part of live_bytes in blocks above 256 KiB
    size_t large_blocks;     //
    size_t bin_bytes;        // free blocks in the threads' bins
    size_t transit_bytes;    // freed by another thread, on the way to their owner
    size_t slab_free_bytes;  // free blocks in slabs
    size_t dirty_bytes;      // whole free pages that are still resident
    size_t committed_bytes;  // mapped minus purged: what the heap limit counts
    size_t mapped_bytes;     // address space in use
    size_t record_bytes;     // our own records, the part of committed_bytes that holds no block
    size_t peak_committed_bytes;
    size_t purged_bytes;   // given back to the system since the start, counted each time
    size_t limit_bytes;    // 0: none
    size_t heap_count;     // heaps of live threads and those made by hak_heap_create
    size_t parked_count;   // heaps of ended threads, waiting for the next thread
    size_t slab_count;     //
    size_t refill_count;   // bin misses that fetched blocks from slabs
    size_t flush_count;    // bin overflows that gave blocks back to slabs
    size_t remote_count;   // batches sent to another thread's heap
    size_t os_call_count;  // system calls made to map, unmap and purge
};

// Fills *stats.  Returns 0, or EINVAL when struct_bytes is 0.
HAK_API int hak_stats_read(struct hak_stats *stats) __attribute__((nonnull(1)));

// Writes the figures, with a table by size class, as one JSON object (no line breaks) with a
// terminating NUL into text[0 .. bytes).  Returns the length that the whole text needs, NUL not
// counted, as snprintf does.
HAK_API size_t hak_stats_json(char *text, size_t bytes);

// ---- Gates --------------------------------------------------------------------------------------

// The value in force of a gate, by the name of its environment variable ("HAKMEM_DIRTY_LIMIT"), as
// text in value[0 .. bytes).  Returns 0, ENOENT for an unknown gate, or ERANGE when it didn't fit.
HAK_API int hak_ctl_get(const char *gate, char *value, size_t bytes) __attribute__((nonnull(1, 2)));

// Changes a gate while the program runs.  Returns 0, ENOENT for an unknown gate, EINVAL for a value
// that it does not take, or EPERM for one that can only be set at start.
HAK_API int hak_ctl_set(const char *gate, const char *value) __attribute__((nonnull(1, 2)));

// ---- First-class heaps --------------------------------------------------------------------------

// A heap of one's own: its blocks come from memory that it shares with no other heap, and destroying
// it releases them all at once.
struct hak_heap;

// A heap without blocks, or NULL with ENOMEM.
HAK_API struct hak_heap *hak_heap_create(void) __attribute__((warn_unused_result));

// As hak_malloc, hak_calloc and hak_aligned_alloc, from `heap`; any thread may call them.  The
// blocks are freed and reallocated by hak_free and hak_realloc like all others; a block that
// hak_realloc must move stays in its heap.
HAK_API void *hak_heap_malloc(struct hak_heap *heap, size_t bytes)
    __attribute__((malloc, nonnull(1), alloc_size(2), warn_unused_result));
HAK_API void *hak_heap_calloc(struct hak_heap *heap, size_t count, size_t bytes)
    __attribute__((malloc, nonnull(1), alloc_size(2, 3), warn_unused_result));
HAK_API void *hak_heap_aligned_alloc(struct hak_heap *heap, size_t alignment, size_t bytes)
    __attribute__((malloc, nonnull(1), alloc_size(3), alloc_align(2), warn_unused_result));

// Releases the heap and every block of it.  No thread may use the heap or a block of it during or
// after the call.  NULL is allowed.
HAK_API void hak_heap_destroy(struct hak_heap *heap);

#ifdef __cplusplus
}
#endif

#endif
