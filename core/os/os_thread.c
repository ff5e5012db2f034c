// SPDX-License-Identifier: MIT
#include "os/os_thread.h"

#include "os/os_process.h"
#include "os/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
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

// The kernel compares half of the word: on the processors we run on, its low half comes first.
static uint32_t *futex_of(struct lock *lock)
{
    return (uint32_t *)(void *)&lock->word;
}

// Whoever may have slept takes the lock with the sleeper bit set: others may sleep too.
static bool take_as_sleeper(struct lock *lock)
{
    uintptr_t expected = 0;
    return atomic_compare_exchange_strong_explicit(&lock->word, &expected,
                                                   os_thread_self() | LOCK_SLEEPER,
                                                   memory_order_acquire, memory_order_relaxed);
}

static void sleep_on(struct lock *lock)
{
    uintptr_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    if (word == 0) {
        return;
    }
    if ((word & LOCK_SLEEPER) == 0 &&
        !atomic_compare_exchange_strong_explicit(&lock->word, &word, word | LOCK_SLEEPER,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        return;
    }
    os_syscall(SYS_futex, (long)futex_of(lock), FUTEX_WAIT_HERE,
               (long)(uint32_t)(word | LOCK_SLEEPER), 0, 0, 0);
}

void lock_take_slow(struct lock *lock)
{
    if (lock_is_mine(lock)) {
        die("malloc was called by a signal handler or hook while this thread was inside malloc");
    }
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        pause_briefly();
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 && lock_try(lock)) {
            return;
        }
    }
    while (!take_as_sleeper(lock)) {
        sleep_on(lock);
    }
}

void lock_wake(struct lock *lock)
{
    os_syscall(SYS_futex, (long)futex_of(lock), FUTEX_WAKE_HERE, 1, 0, 0, 0);
}

void os_thread_yield(void)
{
    os_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

// libc knows without a system call where the kernel keeps it in the thread's memory or in its vDSO.
// Where nobody knows, threads are told apart by where their stacks lie.
unsigned os_cpu_index(void)
{
    enum {
        STACK_SHIFT = 16
    };
    int saved_errno = errno;
    int cpu = sched_getcpu();
    errno = saved_errno;
    return cpu >= 0 ? (unsigned)cpu : (unsigned)(os_thread_self() >> STACK_SHIFT);
}
