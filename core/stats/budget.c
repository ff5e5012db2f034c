// SPDX-License-Identifier: MIT
#include "stats/budget.h"

struct budget budget;

static void raise_peak(size_t committed_bytes)
{
    size_t peak = budget_read(&budget.peak_committed_bytes);
    while (committed_bytes > peak && !atomic_compare_exchange_weak_explicit(
                                         &budget.peak_committed_bytes, &peak, committed_bytes,
                                         memory_order_relaxed, memory_order_relaxed)) {
    }
}

bool budget_commit(size_t bytes)
{
    size_t limit = budget_read(&budget.limit_bytes);
    size_t before = atomic_fetch_add_explicit(&budget.committed_bytes, bytes, memory_order_relaxed);
    if (limit != 0 && (bytes > limit || before > limit - bytes)) {
        budget_subtract(&budget.committed_bytes, bytes);
        return false;
    }
    raise_peak(before + bytes);
    return true;
}

void budget_commit_anyway(size_t bytes)
{
    size_t before = atomic_fetch_add_explicit(&budget.committed_bytes, bytes, memory_order_relaxed);
    raise_peak(before + bytes);
}

void budget_uncommit(size_t bytes)
{
    budget_subtract(&budget.committed_bytes, bytes);
    budget_add(&budget.purged_bytes, bytes);
}
