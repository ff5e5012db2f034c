// Makes chosen system calls fail in this process from now on, and in its children.
// SPDX-License-Identifier: MIT
#ifndef TESTS_SECCOMP_DENY_H
#define TESTS_SECCOMP_DENY_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SECCOMP_DENY_MOST = 8
};

// From now on each of calls[0 .. count) (SYS_ numbers) fails with `error`.  It cannot be undone.
// Returns false where the kernel has no seccomp filters.
bool seccomp_deny(const int *calls, size_t count, int error);

#endif
