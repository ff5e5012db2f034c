// Learner: sets by measurement how much the bins of a thread may hold, and which classes come from lanes.
// Layer: thread.  Needs: base, os, policy, route, backend.
// SPDX-License-Identifier: MIT
//
// On with HAKMEM_LEARNER; otherwise a branch on the slow paths and nothing else.  It acts at refill only,
// and a static route freezes it.
//
// Bins.  Each thread measures the share of its own time, the processor's, that goes into refills and
// flushes.  Where that is
// worth it, its bins may hold twice as much; two epochs later, when they have filled, the share is looked
// at again, and if it didn't fall by a quarter the bound goes back.  Where the share has become next to
// nothing, half as much is tried in the same way.  A step that came to nothing is tried again after a time
// that doubles, or at once when the share has changed much, as it does when a program enters another
// phase.
//
// Lanes.  With many threads that don't do much, a class whose free blocks in slabs and bins outweigh its
// live ones moves to the lanes of MID_V3, which all threads share.  It comes back when a thread spends too much of its time
// in lanes, or when the threads are gone.
#ifndef HAK_THREAD_LEARNER_H
#define HAK_THREAD_LEARNER_H

#include "base/compiler.h"
#include "os/os_ticks.h"
#include "policy/gates.h"
#include "route/size_class.h"

struct heap;
struct text;

enum learner_step {
    LEARNER_WATCHING,
    LEARNER_SETTLING,   // the bins fill or empty themselves to their bounds; not measured
    LEARNER_MEASURING,  // until the epoch ends, with the bounds on trial
};

// A thread's part; its owner alone uses it.  Shares of time are in hundredths of a percent.
struct learner {
    uint64_t epoch_start;   // in ticks; 0: none has begun
    uint64_t wall_start;    // the same in nanoseconds
    uint64_t cpu_start;     // the thread's own time then
    uint64_t slow_ticks;    // of the epoch, in refills and flushes
    uint64_t lane_ticks;    // the part of that in lanes
    uint32_t share_before;  // the share that the step on trial is to better
    uint32_t share_seen;    // when the last step was refused
    uint32_t wait;          // epochs until a refused step is tried again
    uint32_t patience;      // the next wait
    uint8_t former_scale;   // of the bins, before the step on trial
    uint8_t step;           // enum learner_step
};

// The start of a slow path's time, or 0 when nothing is learned.
static inline uint64_t learner_time(void)
{
    return unlikely(gates.learner) ? os_ticks() : 0;
}

HAK_COLD void learner_add(struct heap *heap, uint64_t start, bool is_lane);

// Adds the time since `start` to what the heap's slow paths have taken.
static inline void learner_note(struct heap *heap, uint64_t start, bool is_lane)
{
    if (unlikely(start != 0)) {
        learner_add(heap, start, is_lane);
    }
}

// At a refill of the class, when the learner is on; no lock held.
HAK_COLD void learner_look(struct heap *heap, class_id cls);

// The thread is ending: the next one to have the heap starts as any other.
void learner_forget(struct heap *heap);

// Adds the last decisions, oldest first, as a member "learner" to a JSON object.
void learner_add_json(struct text *text);

#endif
