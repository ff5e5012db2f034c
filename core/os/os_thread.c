// SPDX-License-Identifier: MIT
#include "os/os_thread.h"

#include "os/os_process.h"
#include "os/syscall.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>

enum {
    SPIN_COUNT = 100,
    FUTEX_WAIT_HERE = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
    FUTEX_WAKE_HERE = FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause" ::: "memory");
#else
    __asm__ volatile("yield" ::: "memory");
#endif
}

void lock_take_slow(struct lock *lock)
{
    if (lock_is_mine(lock)) {
        die("malloc was called by a signal handler or hook while this thread was inside malloc");
    }
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        pause_briefly();
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 && lock_try(lock)) {
            return;
        }
    }
    // Whoever sleeps must be woken, so from here the lock is taken as state 2.
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        os_syscall(SYS_futex, (long)&lock->state, FUTEX_WAIT_HERE, 2, 0, 0, 0);
    }
    atomic_store_explicit(&lock->owner, os_thread_self(), memory_order_relaxed);
}

void lock_wake(struct lock *lock)
{
    os_syscall(SYS_futex, (long)&lock->state, FUTEX_WAKE_HERE, 1, 0, 0, 0);
}

void os_thread_yield(void)
{
    os_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
