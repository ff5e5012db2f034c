// Threads as the kernel sees them, and the lock that everything here uses.
// Layer: os.  Needs: base.
// SPDX-License-Identifier: MIT
#ifndef HAK_OS_OS_THREAD_H
#define HAK_OS_OS_THREAD_H

#include "base/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// A number that no other live thread of the process has; never 0.
static inline uintptr_t os_thread_self(void)
{
    uintptr_t self;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
#endif
    return self;
}

// A mutex of one word; 0 is unlocked.  Spins shortly, then sleeps in the kernel.  Taking it twice in
// one thread (a signal handler that allocates while its thread is on a slow path) ends the process
// with one line instead of hanging; that the owner and the state are one word leaves no moment in
// which a handler could see one without the other.
//
// word: 0, or the holder's number, whose lowest bit says that somebody may sleep.  The acquire
// exchange that takes it pairs with the release exchange that gives it.
struct lock {
    _Atomic uintptr_t word;
};

enum {
    LOCK_SLEEPER = 1
};

HAK_COLD void lock_take_slow(struct lock *lock);
HAK_COLD void lock_wake(struct lock *lock);

static inline bool lock_try(struct lock *lock)
{
    uintptr_t expected = 0;
    return atomic_compare_exchange_strong_explicit(&lock->word, &expected, os_thread_self(),
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void lock_take(struct lock *lock)
{
    if (unlikely(!lock_try(lock))) {
        lock_take_slow(lock);
    }
}

static inline void lock_give(struct lock *lock)
{
    uintptr_t word = atomic_exchange_explicit(&lock->word, 0, memory_order_release);
    if (unlikely((word & LOCK_SLEEPER) != 0)) {
        lock_wake(lock);
    }
}

// Is this thread the holder?
static inline bool lock_is_mine(const struct lock *lock)
{
    uintptr_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    return (word & ~(uintptr_t)LOCK_SLEEPER) == os_thread_self();
}

void os_thread_yield(void);

// The processor that the thread runs on, as far as can be told; it may be another one the next moment.
unsigned os_cpu_index(void);

#endif
