// Remote free: a block whose owner is another thread's heap travels in a batch.
// Layer: thread.  Needs: base, os, region, route, backend.
// SPDX-License-Identifier: MIT
//
//   free ── outbox (by owner, this thread's) ── full ──► owner's mailbox (one push)
//   refill of the owner, or a poster who finds it idle ── drain ──► bins and slabs
//
// A batch holds blocks of all classes: with an outbox for each owner and class, threads that free many
// sizes for many owners sent batches of a block or two (2.5 times glibc's time on the async pool).
#ifndef HAK_THREAD_REMOTE_FREE_H
#define HAK_THREAD_REMOTE_FREE_H

#include "thread/heap.h"

// Adds `block` to the batch that is open for the owner its entry names.  False: there is none.
bool remote_free_append(struct heap *self, void *block, page_entry entry);

// Sends `block`, whose entry names a heap of kind HEAP_THREAD that is not `self`.
void remote_free_send(struct heap *self, void *block, page_entry entry);

// Posts what is in the outboxes.
void remote_free_flush(struct heap *self);

// Empties the mailbox of `heap`, whose lock is held.  With `self` == `heap` (the owner) blocks go to
// the bins as far as they have room.  Returns the batches in which blocks have changed hands since:
// to be given to remote_free_forward once the lock is dropped.
struct batch *remote_free_drain(struct heap *heap, struct heap *self);
void remote_free_forward(struct heap *self, struct batch *strays);

// A look without the lock: what is posted after it waits for the next one.
static inline bool remote_free_has_mail(const struct heap *heap)
{
    return atomic_load_explicit(&heap->mailbox, memory_order_relaxed) != NULL;
}

// Takes the heap's lock, empties its mailbox, and forwards the strays with the lock dropped.
void remote_free_empty_mailbox(struct heap *heap, struct heap *self);

// Adds the blocks that are in the heap's outboxes and mailbox to counts[class].  Under the heap's
// lock, which keeps the mailbox from being emptied; the outboxes may change meanwhile.
void remote_free_count(struct heap *heap, size_t *counts);

#endif
