// How a program says to inject_faults that no call is to fail from here on: by advice that means nothing to
// the kernel.
// SPDX-License-Identifier: MIT
#ifndef TESTS_FAULTS_END_H
#define TESTS_FAULTS_END_H

#include <stddef.h>
#include <sys/mman.h>

enum {
    FAULTS_END_ADVICE = 0x4661656e
};

static inline void end_faults(void)
{
    (void)madvise(NULL, 0, FAULTS_END_ADVICE);
}

#endif
