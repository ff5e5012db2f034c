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
    size_t before = budget_read(&budget.committed_bytes);
    do {
        if (limit != 0 && (bytes > limit || before > limit - bytes)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget.committed_bytes, &before,
                                                    before + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

void budget_commit_anyway(size_t bytes)
{
    if (bytes != 0) {
        budget_add(&budget.committed_bytes, bytes);
    }
}

void budget_uncommit(size_t bytes)
{
    if (bytes != 0) {
        raise_peak(budget_read(&budget.committed_bytes));
        budget_subtract(&budget.committed_bytes, bytes);
        budget_add(&budget.purged_bytes, bytes);
    }
}

size_t budget_peak(void)
{
    raise_peak(budget_read(&budget.committed_bytes));
    return budget_read(&budget.peak_committed_bytes);
}
