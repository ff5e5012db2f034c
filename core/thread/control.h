// Gates that are set from outside while the program runs, for programs that were started with
// HAKMEM_CONTROL.
// Layer: thread.  Needs: base, os, policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_CONTROL_H
#define HAK_THREAD_CONTROL_H

#include "base/compiler.h"
#include "policy/control_page.h"

#include <stdbool.h>

// The request that is looked at: the page's, or one that never changes; and the last that was seen.
struct control {
    _Atomic uint32_t *_Atomic request;
    _Atomic uint32_t seen;
};

extern struct control control;

// Makes the page, once the gates are read.  The caller holds no lock.
void control_start(void);

HAK_COLD void control_answer(void);

// On slow paths, no lock held: two loads when nothing was asked.
static inline void control_look(void)
{
    // Acquire: pairs with the release in control_start, for what control_answer reads.  The request
    // itself is relaxed: it is seen at this look or at the next, and read again there.
    _Atomic uint32_t *request = atomic_load_explicit(&control.request, memory_order_acquire);
    if (unlikely(atomic_load_explicit(request, memory_order_relaxed) !=
                 atomic_load_explicit(&control.seen, memory_order_relaxed))) {
        control_answer();
    }
}

// In a forked child: the page is its parent's.
void control_after_fork_in_child(void);

#endif
