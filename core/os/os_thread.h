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

// A mutex of 16 bytes; all zero is unlocked.  Spins shortly, then sleeps in the kernel.  Taking it
// twice in one thread (a signal handler that allocates while its thread is on a slow path) ends
// the process with one line instead of hanging.
//
// state: 0 free, 1 held, 2 held and somebody may sleep.  The acquire exchange that takes it pairs
// with the release exchange that gives it.  owner is only compared with the reader's own number,
// which no other thread writes, so relaxed order is enough.
struct lock {
    _Atomic uint32_t state;
    _Atomic uintptr_t owner;
};

HAK_COLD void lock_take_slow(struct lock *lock);
HAK_COLD void lock_wake(struct lock *lock);

static inline bool lock_try(struct lock *lock)
{
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        return false;
    }
    atomic_store_explicit(&lock->owner, os_thread_self(), memory_order_relaxed);
    return true;
}

static inline void lock_take(struct lock *lock)
{
    if (unlikely(!lock_try(lock))) {
        lock_take_slow(lock);
    }
}

static inline void lock_give(struct lock *lock)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    if (unlikely(atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)) {
        lock_wake(lock);
    }
}

// For assertions: is this thread the holder?
static inline bool lock_is_mine(const struct lock *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) == os_thread_self();
}

void os_thread_yield(void);

#endif
