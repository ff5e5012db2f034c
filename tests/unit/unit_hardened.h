// For unit tests that a hardened process does not suit.
// SPDX-License-Identifier: MIT
#ifndef TESTS_UNIT_HARDENED_H
#define TESTS_UNIT_HARDENED_H

#include "policy/gates.h"
#include "unit_check.h"

#include <stdlib.h>

// Ends the program as skipped in a hardened process, where blocks have trailers and wait before they
// come back: for tests of the bins and backends that look at what hak_malloc returns.
static inline void skip_if_hardened(void)
{
    if (gates.hardened) {
        exit(skip_program("blocks have trailers and wait before they come back"));
    }
}

#endif
