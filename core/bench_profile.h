// Settings that a program brings along for itself, such as a benchmark or a test of one front.
// For programs: the allocator includes nothing of this.
// SPDX-License-Identifier: MIT
//
// The library takes its settings when a program starts, so a program that has changed them must start
// again.  What everybody may choose is a profile: policy/profiles.def.
#ifndef HAK_BENCH_PROFILE_H
#define HAK_BENCH_PROFILE_H

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

// Gives a setting a value unless the environment has one.  True: it was set, and bench_start_again
// puts it into force.
static inline bool bench_setenv_default(const char *name, const char *value)
{
    return getenv(name) == NULL && setenv(name, value, 1) == 0;
}

// Starts the program again with the environment as it is now.  Returns when that can't be done.
static inline void bench_start_again(char **arguments)
{
    (void)execv("/proc/self/exe", arguments);
}

#endif
