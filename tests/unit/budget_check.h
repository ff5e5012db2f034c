// What the tests ask the budget.
// SPDX-License-Identifier: MIT
#ifndef HAK_UNIT_BUDGET_CHECK_H
#define HAK_UNIT_BUDGET_CHECK_H

#include "stats/budget.h"

// Committed bytes that are no records of our own: those are counted with the first use of their chunk.
static inline size_t committed_page_bytes(void)
{
    return budget_read(&budget.committed_bytes) - budget_read(&budget.record_bytes);
}

#endif
