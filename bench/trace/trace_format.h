// The file that `hakmem record` writes: every allocation of a program, and when.
// Needs: nothing.
// SPDX-License-Identifier: MIT
//
// The file: a skippable zstd frame of TRACE_HEAD_BYTES, the head; then one zstd frame for each chunk,
// so that `zstd -d` reads it too and whatever is whole at its start stays readable.
//
//   head    TRACE_FRAME_MAGIC and the payload's length as 4 bytes each, least significant first;
//           TRACE_MAGIC (8 bytes); the version (1 byte); 7 bytes of 0
//   chunk   TRACE_CHUNK_EVENTS, thread, count, then columns, each of all its events in their order:
//             entry      1 byte each
//             moment     the first as it is, then the distance to the one before, less 1
//             given up   of a realloc: the moment less this
//             bytes      of what was born
//             alignment  of aligned entries: 1 byte, the power of two
//             block      of a realloc the old one first; each as the distance to the one before,
//                        signed, the sign in the lowest bit
//   end     TRACE_CHUNK_END, 1 byte enum trace_ending: the last chunk, when the program came to an end
//
// Numbers are 7 bits a byte, the lowest first, the top bit saying that more follow.
//
// Order.  One counter for the whole process gives each event its moment.  A free takes it before the
// block is given back and an allocation after it was got, so what the allocator hands on from one
// thread to another has its free before its next birth.  A realloc does both: it has two moments.
// Invariant: no two moments are equal, and those of a thread ascend.  Between its birth and its death no
// other block has the same number (which is the address while a program is being recorded, and
// later any number but 0).
//
// What is not in it: calls that failed or did nothing; what forked children do; what a signal handler
// allocates while its thread is inside malloc; what was allocated before the recorder was there
// (the reader drops a free of a block that it doesn't know).  operator new and delete are the malloc
// and free that the C++ library calls.  A program that becomes another by exec leaves the trace of
// the last one.  After TRACE_MOMENTS_MOST moments the recorder stops; the numbers of
// threads that have ended are given out again after TRACE_THREADS_FRESH of them.
#ifndef HAK_BENCH_TRACE_FORMAT_H
#define HAK_BENCH_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC       "HAKTRACE"
#define TRACE_FRAME_MAGIC UINT32_C(0x184D2A5A)  // one of zstd's for what it skips

enum {
    TRACE_VERSION = 1,
    TRACE_HEAD_BYTES = 24,
    TRACE_MAGIC_AT = 8,
    TRACE_VERSION_AT = 16,
    TRACE_THREADS_MOST = 4096,
    TRACE_THREADS_FRESH = 1024,
    TRACE_CHUNK_EVENTS_MOST = 65536,
    TRACE_EVENT_BYTES_MOST = 52,  // in a chunk
    TRACE_CHUNK_BYTES_MOST = TRACE_CHUNK_EVENTS_MOST * TRACE_EVENT_BYTES_MOST + 16,
    TRACE_MOMENTS_MOST = 1 << 25,
    TRACE_ALIGN_SHIFT_MOST = 47,
};

static const uint64_t TRACE_BYTES_MOST = (UINT64_C(1) << 48) - 1;

// The first byte of a chunk.
enum trace_chunk_kind {
    TRACE_CHUNK_EVENTS = 1,
    TRACE_CHUNK_END = 2,
};

enum trace_ending {
    TRACE_ENDED,  // the program left
    TRACE_FULL,   // TRACE_MOMENTS_MOST
};

// The function that was called.
enum trace_entry {
    TRACE_MALLOC,
    TRACE_CALLOC,
    TRACE_REALLOC,
    TRACE_FREE,
    TRACE_MEMALIGN,  // and valloc, pvalloc
    TRACE_ALIGNED_ALLOC,
    TRACE_POSIX_MEMALIGN,
    TRACE_ENTRY_COUNT
};

struct trace_event {
    uint64_t moment;
    uint64_t given_up;   // of a realloc: the moment from which its old block was gone; else 0
    uint64_t block;      // that was born, or freed
    uint64_t old_block;  // of a realloc; 0: there was none
    uint64_t bytes;      // of what was born
    uint32_t thread;
    uint8_t entry;        // enum trace_entry
    uint8_t align_shift;  // of aligned entries
};

static inline bool trace_entry_is_aligned(unsigned entry)
{
    return entry >= TRACE_MEMALIGN;
}

// Events of one thread.
struct trace_chunk {
    enum trace_chunk_kind kind;
    enum trace_ending ending;
    uint32_t thread;
    size_t count;
    struct trace_event *events;
};

#endif
