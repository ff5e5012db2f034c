// What the process holds: one set of counters that the limit and the purge look at.
// Layer: stats.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Every counter is a relaxed atomic: each is a sum on its own, and no memory is published through
// it.  Invariant: dirty_bytes <= committed_bytes <= mapped_bytes, but for changes under way.
#ifndef HAK_STATS_BUDGET_H
#define HAK_STATS_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget {
    _Atomic size_t mapped_bytes;     // address space taken from the system
    _Atomic size_t committed_bytes;  // the part that may be resident
    _Atomic size_t dirty_bytes;      // the part of that in whole free pages
    _Atomic size_t refused_bytes;    // the part of that which the last purge was refused
    _Atomic size_t record_bytes;     // the part of that in our own records
    _Atomic size_t peak_committed_bytes;
    _Atomic size_t purged_bytes;   // given back since the start
    _Atomic size_t limit_bytes;    // of committed_bytes; 0: none
    _Atomic size_t bin_bytes;      // promised to the bins of all heaps
    _Atomic size_t emptied_bytes;  // pages that became empty inside slabs since their last purge
};

extern struct budget budget;

// Adds to the committed bytes; false (and nothing changed) when the limit forbids it.
bool budget_commit(size_t bytes);

// Adds to the committed bytes whatever the limit says: for pages that a block already has.
void budget_commit_anyway(size_t bytes);

void budget_uncommit(size_t bytes);

// The most that was committed.  Noted when something is given back and when it is asked for, so that
// a commit that comes to nothing, undone with budget_subtract, leaves no trace.
size_t budget_peak(void);

static inline size_t budget_read(const _Atomic size_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void budget_add(_Atomic size_t *counter, size_t bytes)
{
    atomic_fetch_add_explicit(counter, bytes, memory_order_relaxed);
}

static inline void budget_subtract(_Atomic size_t *counter, size_t bytes)
{
    atomic_fetch_sub_explicit(counter, bytes, memory_order_relaxed);
}

#endif
