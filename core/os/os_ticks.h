// A clock for comparing lengths of time: cheap to read, of no given unit.
// Layer: os.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Counters of the processor that all cores share, as on every machine that runs Linux today; elsewhere
// the system's clock.  A thread that was interrupted sees the time of others in its own.
#ifndef HAK_OS_OS_TICKS_H
#define HAK_OS_OS_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t os_clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t os_ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return os_clock_ns(CLOCK_MONOTONIC);
#endif
}

// About how many make a millisecond: within a factor of three.
static inline uint64_t os_ticks_per_ms(void)
{
#if defined __x86_64__
    return 2500000;
#elif defined __aarch64__
    uint64_t per_second;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
    return per_second / 1000;
#else
    return 1000000;
#endif
}

#endif
