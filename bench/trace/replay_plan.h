// What bench_replay does, thread by thread: a trace made ready to run.
// Needs: nothing.
// SPDX-License-Identifier: MIT
//
// `hakmem replay` makes a plan of a trace, so that the replay itself links nothing but libc and does
// nothing but allocate: it lies in a file, is read in small pieces, and names places of a table
// where the trace names blocks.
//
//   struct plan_head; struct plan_thread[thread_count]; struct plan_step[...]
//
// A block that dies in the thread that it was born in has a place in that thread's own table, which
// is used again.  A block that is handed over has a place of its own in the shared table, which is
// empty until it is born: who frees it waits for that.
//
// Threads keep in step: the recorded order is cut into stretches of PLAN_STRETCH_STEPS, and a thread
// enters one when all others have left the one before the last.  So none runs ahead by more than
// two stretches, whatever the machine does, and as the recorded order is possible, nobody waits
// for ever.  Thread 0 starts the others.
//
// The file comes from this machine and of this version: it has no order of bytes of its own.
#ifndef HAK_BENCH_REPLAY_PLAN_H
#define HAK_BENCH_REPLAY_PLAN_H

#include <stdint.h>

#include "trace_format.h"

#define PLAN_MAGIC    UINT64_C(0x314E414C504B4148)  // "HAKPLAN1"
#define PLAN_NO_PLACE UINT32_MAX
#define PLAN_SHARED   (UINT32_C(1) << 31)  // a place in the shared table

enum {
    PLAN_STRETCH_STEPS = 16384,
};

// What is beyond enum trace_entry.
enum plan_deed {
    PLAN_START = TRACE_ENTRY_COUNT,  // of thread `place`
    PLAN_ENTER,                      // stretch `place`
    PLAN_DEED_COUNT
};

struct plan_step {
    uint32_t place;      // of what is born or freed
    uint32_t old_place;  // of a realloc, or PLAN_NO_PLACE
    uint64_t code;       // deed, alignment and bytes
};

struct plan_thread {
    uint64_t first_step;
    uint64_t step_count;
    uint32_t place_count;  // of its own
    uint32_t first_stretch;
};

struct plan_head {
    uint64_t magic;
    uint32_t thread_count;
    uint32_t shared_count;     // places of the shared table
    uint64_t operation_count;  // malloc, realloc or free; a realloc is one
};

static inline uint64_t plan_code(unsigned deed, unsigned align_shift, uint64_t bytes)
{
    return bytes | (uint64_t)align_shift << 48 | (uint64_t)deed << 56;
}

static inline unsigned plan_deed(const struct plan_step *step)
{
    return (unsigned)(step->code >> 56);
}

static inline uint64_t plan_align(const struct plan_step *step)
{
    return UINT64_C(1) << ((step->code >> 48) & 63);
}

static inline uint64_t plan_bytes(const struct plan_step *step)
{
    return step->code & TRACE_BYTES_MOST;
}

#endif
