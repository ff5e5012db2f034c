// The allocator's start, its forks, the end of its threads.
// Layer: thread.  Needs: base, os, policy, stats, region, route, backend.
// SPDX-License-Identifier: MIT
//
// The first allocation of the process starts the allocator, from whatever thread and however early.
// The environment may not be there yet (the loader allocates before libc's own start): then the
// defaults serve, every call takes the slow path, and each of those looks again.
#ifndef HAK_THREAD_PROCESS_H
#define HAK_THREAD_PROCESS_H

#include "thread/heap.h"

// Makes what every heap needs: the gates, the routes, the shared heaps.  Any thread, any time.
// False when memory is out.
bool process_start(void);

// Reads the gates if the environment has come by now, and lets the heap's front work, the fused one or
// the gated one.  The calling thread owns `heap`.
void process_settle(struct heap *heap);

// Puts the gate HAKMEM_LIMIT into force.  Reads files when it is "auto": the caller holds no lock.
void process_apply_limit(void);

// After the calling thread has its heap: sees to it that thread exit and fork are noticed.
void process_watch_thread(struct heap *heap);

// Guards what a program may set while it runs: gates and the limit's callback.
void process_settings_lock(void);
void process_settings_unlock(void);

#endif
