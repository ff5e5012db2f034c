// Heap: what one thread owns.
// Layer: thread.  Needs: base, os, stats, region, route, harden, backend.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_HEAP_H
#define HAK_THREAD_HEAP_H

#include "backend/slab.h"
#include "harden/link.h"
#include "thread/gated_front.h"
#include "thread/learner.h"

// The bins: a stock of free blocks for each class, last in, first out.
//
// Invariant: the list from head[cls] is limit[cls] - room[cls] blocks long, and every block on it is
// of the class and of the heap's slabs.  Only the owner touches it.  Its stores are ordered for the
// compiler so that a fork in another thread, which stops the owner anywhere, finds a valid list; its
// count may then be too low, which bin_repair mends.
//
// room and limit are plain words although statistics read those of other threads: the owner alone
// writes them, an aligned word is read whole on every processor we run on, and a late figure harms
// nothing.  As atomics, even relaxed, they cost malloc three instructions of nineteen, because the
// compiler then neither adds in memory nor scales the index in the address.  bin_count_of_other is
// the one reader.
//
// Arrays side by side, not an array of structs, and first in the heap: the class is then an index
// that the processor scales for free.
struct bins {
    struct block *head[CLASS_COUNT];
    uint32_t room[CLASS_COUNT];  // pushes left before the next slow path
    // Blocks the list may hold; grows on use, shrinks when idle.
    uint32_t limit[CLASS_COUNT];
};

// The older half of a list that was full, set aside so that a bin that swings about its limit stays
// off the slabs.  Invariant: chain == NULL exactly when count == 0.
struct bin_reserve {
    struct block *chain;
    _Atomic uint32_t count;
    bool is_used;         // since the last look for idle bins
    bool is_swinging;     // set aside once since the limit last grew
    uint8_t flush_count;  // of the class, since its last miss
};

enum {
    COLLECTOR_COUNT = 256
};

// Blocks of classes that are only being freed.  Linking them into lists would touch each of them, and
// walking the lists to give them back would touch them again, cold by then; here only their addresses
// are kept.  Invariant: blocks[0 .. count) are free blocks of the heap's slabs, of any class, and
// `bytes` is what they hold.  Only the owner writes; statistics read.
struct collector {
    _Atomic uint32_t count;
    uint32_t bytes;
    size_t bytes_most;  // its part of the heap's bound
    void *_Atomic blocks[COLLECTOR_COUNT];
};

enum {
    STOCK_COUNT = 8
};

// Blocks of lanes that a thread has at hand, of one class.  They can't be in its bin, whose blocks are
// the heap's own.  Invariant: blocks[0 .. count) are free blocks of the class and of any lane.  Only the
// owner writes, the block before the count; statistics read.
struct stock {
    _Atomic uint32_t count;
    void *_Atomic blocks[STOCK_COUNT];
};

enum heap_kind {
    HEAP_EMPTY,   // the static heaps that stand for "none yet" and "no more"
    HEAP_THREAD,  // one thread's, or parked
    HEAP_SHARED,  // every operation under its lock: first-class heaps, the pool, the exit heap
    HEAP_LANE,    // slabs that all threads share; their blocks travel in batches (lane.h)
};

// What serves malloc and free of tiny blocks in a heap's thread.
enum heap_front {
    FRONT_UNSETTLED,  // the gates aren't read yet: the slow paths
    FRONT_FUSED,      // the hit paths
    FRONT_GATED,      // the gated front, called by the slow paths; see gated_front.h
    FRONT_HARDENED,   // the checking front, called by the slow paths; see front/hardened.h
};

enum {
    OUTBOX_COUNT = 16
};

struct batch;
struct quarantine;

// A match tag that leaves no class, whatever entry it meets.
#define MATCH_NOTHING ((page_entry)NO_TAG << ENTRY_CLASS_BITS | 255)

struct heap {
    struct bins bins;
    size_t fast_limit;     // malloc serves smaller sizes from the bins; 0: always the slow path
    page_entry match_tag;  // free serves blocks of this tag from the bins, or MATCH_NOTHING
    uint8_t kind;          // enum heap_kind
    uint8_t front;         // enum heap_front
    bool is_unused;        // a destroyed first-class heap
    uint64_t link_key;
    struct bin_reserve reserves[CLASS_COUNT];
    struct collector collector;

    // Touched by the owner only.
    size_t bin_bytes;     // promised to the bins by their limits
    uint32_t limit_cap;   // of every bin: sinks while the promises exceed their bound
    uint8_t bin_scale;    // the bins may hold 2^bin_scale times what the gates say
    uint32_t tick;        // slow paths taken, to look for idle bins now and then
    uint32_t owner_tag;   // never changes
    uint32_t guard_left;  // misses until a block gets guards; 0: never
    uint64_t guard_random;
    _Atomic(struct batch *) outboxes[OUTBOX_COUNT];  // relaxed: statistics look in
    struct batch *spare_batches;
    size_t spare_batch_count;
    _Atomic size_t outbox_bytes;
    _Atomic(struct stock *)
        stocks;  // [TINY_CLASS_COUNT], made on the first use; statistics look in
    struct quarantine *_Atomic quarantine;  // of a hardened process; statistics look in
    uint32_t route_version;                 // of the routes that the bins and stocks are right for
    _Atomic size_t sent_count;
    struct gated_front gated;
    struct learner learner;

    // Written by others.  mailbox: pushed by any thread, emptied under the lock by an exchange.
    // mailbox_bytes follows it loosely.  is_parked changes under the registry's lock; a poster reads it
    // after its push, and who parks the heap empties the mailbox after setting it: one of the two sees
    // the other, so that no batch stays with a heap that nobody looks after (remote_free.pml).
    _Alignas(64) _Atomic(struct batch *) mailbox;
    _Atomic size_t mailbox_bytes;
    _Atomic bool is_parked;
    bool is_orphan;            // parked by a fork with its bins as they were: nothing is stolen
                               // from it, and who adopts it repairs the bins
    struct heap *next;         // among the parked or the unused ones, under the registry's lock
    struct span *owned_large;  // large blocks of a first-class heap, under large.c's lock
    struct slab_owner slabs;
};

// The calling thread's heap: at first the static empty one, whose limits send every call to the slow
// path; never NULL.
extern _Thread_local struct heap *thread_heap;

extern struct heap heap_before_start;  // thread_heap of a thread that has not allocated yet
extern struct heap heap_after_exit;    // thread_heap of a thread whose destructors have run

// Gives the calling thread a heap, or reads the gates that its heap has been waiting for.
HAK_COLD struct heap *heap_attach(void);

// The calling thread's heap, made or adopted on the first call.  heap_after_exit in a thread that is
// ending; NULL when memory is out.
static inline struct heap *heap_of_thread(void)
{
    struct heap *heap = thread_heap;
    return likely(heap->front != FRONT_UNSETTLED) ? heap : heap_attach();
}

// Draws after how many misses a block gets guards next, HAKMEM_GUARD_RATE on the average.
void heap_draw_guard(struct heap *heap);

// Called on a miss: does the block get guards?
static inline bool heap_guard_is_due(struct heap *heap)
{
    return unlikely(heap->guard_left != 0) && --heap->guard_left == 0;
}

// Serves a class from a shared heap, or gives one block back to whatever heap owns it, under that
// heap's lock.  The caller holds no lock.
void *heap_shared_take(struct heap *heap, class_id cls);
void heap_give_locked(void *block);

// A pointer that lies in no block of ours: glibc's goes back to it, another is the end.
HAK_COLD void heap_give_unknown(void *pointer);

// Heaps of kind HEAP_SHARED that always exist.
extern struct heap *heap_pool;  // of bands whose route is the pool
extern struct heap *heap_exit;  // of threads that are ending

// First-class heaps.
struct heap *heap_create_shared(void);
void heap_destroy_shared(struct heap *heap);

// Empties the owner's bins, outboxes and mailbox.
void heap_flush(struct heap *heap);

// Purges what is over the bound on dirty memory; cheap when nothing is.  The caller holds no lock.
void heap_purge_if_due(struct heap *heap);

// Purges until at most `keep_bytes` of whole free pages stay, in all heaps; the bytes given back.
size_t heap_purge_all(size_t keep_bytes);

#endif
