// Mailboxes, as in core/thread/remote_free.c: an owner allocates and ends, two others free its blocks.
// SPDX-License-Identifier: MIT
//
// Shown: no block is lost, none is handed out twice or freed twice, nobody waits for good, and when all
// is done no batch lies in the mailbox of the heap that was parked.
// tests/model/run.sh runs it as it stands, then with each BUG_... defined, which it must find.
//
// Left out: strays, which heap_registry.pml has; lanes; what the outboxes' bounds are in bytes.

#define BLOCKS        3
#define ALLOCATIONS   4
#define POSTERS       2
#define BATCHES       2  // records
#define BATCH_BLOCKS  2
#define BIN_ROOM      2
#define MAILBOX_MOST  1  // batches in it above which a poster drains it
#define NONE          0
#define OWNER         0  // the thread; the others are 1 and 2
#define NOBODY        3  // who drains for a heap without a thread, so that no bin is filled

// The heap's slab: bit b of `bitmap` says that block b + 1 is free.  Guarded by `lock`.
byte lock = 0;
byte bitmap = 7;

// The heap's bin: the owner's alone.
byte bin[BLOCKS + 1];
byte bin_count = 0;

byte mailbox = NONE;
byte mailbox_bytes = 0;
bool is_parked = false;

typedef batch {
    byte next;
    byte count;
    byte blocks[BATCH_BLOCKS]
}
batch batches[BATCHES + 1];
byte free_batches = NONE;  // batch.c: the pool of all threads
byte made_batches = 0;
byte outbox[POSTERS + 1];

// The program: which blocks it holds, and those on the way from the owner to whoever frees them.
bool is_live[BLOCKS + 1];
chan handed_over = [BLOCKS] of { byte };
bool owner_is_done = false;
bool owner_has_ended = false;
byte posters_left = POSTERS;

// os_thread.h: lock_take, lock_give
inline lock_take()
{
    atomic { lock == 0 -> lock = self + 1 }
}

inline lock_give()
{
    assert(lock == self + 1);
    lock = 0
}

// slab.c: give_block.  Reads and writes the word in two steps: the lock alone makes them one.
inline slab_flush(given)
{
    bits = bitmap;
    assert((bits >> (given - 1) & 1) == 0);  // double free
    bitmap = bits | (1 << (given - 1));
    bits = 0
}

// slab.c: take_blocks, for one block; NONE when none is free
inline slab_refill(taken)
{
    bits = bitmap;
    if
    :: bits & 1 -> taken = 1; bitmap = bits & ~1
    :: !(bits & 1) && (bits & 2) -> taken = 2; bitmap = bits & ~2
    :: bits == 4 -> taken = 3; bitmap = 0
    :: bits == 0 -> taken = NONE
    fi;
    bits = 0
}

// bin.h: bin_push, bin_pop
inline bin_push(pushed)
{
    count = bin_count;
    bin[count] = pushed;
    bin_count = count + 1;
    count = 0
}

inline bin_pop(popped)
{
    count = bin_count;
    if
    :: count == 0 -> popped = NONE
    :: else -> popped = bin[count - 1]; bin_count = count - 1
    fi;
    count = 0
}

// batch.c: batch_take, batch_give.  The pool's lock makes each one step.
inline batch_take(taken)
{
    atomic {
        taken = NONE;
        if
        :: free_batches != NONE -> taken = free_batches; free_batches = batches[taken].next
        :: free_batches == NONE && made_batches < BATCHES -> made_batches++; taken = made_batches
        :: free_batches == NONE  // memory is out
        fi
    }
}

inline batch_give(given)
{
    atomic {
        batches[given].count = 0;
        batches[given].next = free_batches;
        free_batches = given
    }
}

// remote_free.c: drain_batch.  The owner fills its bin first.
inline drain_batch(emptied)
{
    at = 0;
    do
    :: at < batches[emptied].count ->
        block = batches[emptied].blocks[at];
        if
#ifdef BUG_POSTER_FILLS_THE_BIN
        :: bin_count < BIN_ROOM -> bin_push(block)
#else
        :: self == OWNER && bin_count < BIN_ROOM -> bin_push(block)
#endif
        :: else -> slab_flush(block)
        fi;
        at++
    :: else -> break
    od;
    at = 0;
    block = NONE
}

// remote_free.c: remote_free_drain
inline remote_free_drain()
{
#ifdef BUG_DRAIN_BY_LOAD_AND_STORE
    drained = mailbox;
    mailbox = NONE;
#else
    atomic { drained = mailbox; mailbox = NONE };
#endif
    do
    :: drained == NONE -> break
    :: else ->
#ifdef BUG_NEXT_IS_READ_LATE
        drain_batch(drained);
        batch_give(drained);
        next = batches[drained].next;
#else
        next = batches[drained].next;
        drain_batch(drained);
        batch_give(drained);
#endif
        mailbox_bytes--;
        drained = next;
        next = NONE
    od
}

// remote_free.c: drain_for.  is_urgent: the owner won't come, or not soon.
inline drain_for()
{
    is_urgent = is_parked;
#ifdef BUG_DRAIN_WITHOUT_THE_LOCK
    remote_free_drain();
#else
    if
    :: atomic { lock == 0 -> lock = self + 1 }; remote_free_drain(); lock_give()
    :: lock != 0 && !is_urgent -> skip
    :: lock != 0 && is_urgent -> lock_take(); remote_free_drain(); lock_give()
    fi;
#endif
    is_urgent = false
}

// remote_free.c: post
inline post(posted)
{
    first = mailbox;
    do
    :: true ->
#ifdef BUG_NEXT_IS_SET_LATE
        skip;
#else
        batches[posted].next = first;
#endif
#ifdef BUG_PUSH_BY_LOAD_AND_STORE
        is_pushed = mailbox == first;
        mailbox = posted;
#else
        atomic {
            is_pushed = mailbox == first;
            if
            :: is_pushed -> mailbox = posted
            :: else -> first = mailbox
            fi
        };
#endif
        if
        :: is_pushed -> break
        :: else
        fi
    od;
#ifdef BUG_NEXT_IS_SET_LATE
    batches[posted].next = first;
#endif
    first = NONE;
    is_pushed = false;
    atomic { mailbox_bytes++; is_over = mailbox_bytes > MAILBOX_MOST };
#ifdef BUG_PARKED_HEAP_IS_NOT_SEEN
    if
    :: is_over -> is_over = false; drain_for()
#else
    if
    :: is_over || is_parked -> is_over = false; drain_for()
#endif
    :: else
    fi
}

// remote_free.c: post_outbox
inline post_outbox()
{
    sent = outbox[self];
    outbox[self] = NONE;
    post(sent);
    sent = NONE
}

// remote_free.c: remote_free_send with open_batch and append; heap_give_locked where no batch is left
inline remote_free_send(freed)
{
    if
    :: outbox[self] == NONE -> batch_take(outbox[self])
    :: else
    fi;
    if
    :: outbox[self] == NONE -> lock_take(); slab_flush(freed); lock_give()
    :: else ->
        batches[outbox[self]].blocks[batches[outbox[self]].count] = freed;
        batches[outbox[self]].count++;
        if
        :: batches[outbox[self]].count == BATCH_BLOCKS -> post_outbox()
        :: else
        fi
    fi
}

// malloc_slow.c and heap_refill.c: the bin, the mailbox, the slab
inline heap_malloc(made)
{
    bin_pop(made);
    if
    :: made == NONE ->
        lock_take();
        if
        :: mailbox != NONE -> remote_free_drain()
        :: else
        fi;
        lock_give();
        bin_pop(made);
        if
        :: made == NONE -> lock_take(); slab_refill(made); lock_give()
        :: else
        fi
    :: else
    fi
}

// heap.c: heap_flush, for what an owner has here
inline heap_flush()
{
    do
    :: bin_count > 0 -> bin_pop(made); lock_take(); slab_flush(made); lock_give()
    :: else -> break
    od;
    lock_take();
    remote_free_drain();
    lock_give()
}

active proctype owner()
{
    byte self = OWNER;
    byte bits, count, at, block, drained, next, made;
    byte allocations = 0;
    do
    :: allocations < ALLOCATIONS ->
        allocations++;
        heap_malloc(made);
        atomic {
            if
            :: made != NONE ->
                assert(!is_live[made]);  // handed out twice
                is_live[made] = true;
                handed_over ! made
            :: else
            fi;
            made = NONE
        }
    :: else -> break
    od;
    owner_is_done = true;
    // process.c: thread_is_ending; heap_registry.c: push_parked
    self = NOBODY;
    heap_flush();
#ifdef BUG_LAST_LOOK_BEFORE_PARKING
    lock_take();
    remote_free_drain();
    lock_give();
    is_parked = true;
#else
    is_parked = true;
    lock_take();
    remote_free_drain();
    lock_give();
#endif
    owner_has_ended = true
}

active [POSTERS] proctype poster()
{
    byte self = _pid;
    byte bits, count, at, block, drained, next, first, freed, sent;
    bool is_pushed, is_over, is_urgent;
    do
    :: atomic { handed_over ? freed -> assert(is_live[freed]); is_live[freed] = false };
        remote_free_send(freed);
        freed = NONE
    :: empty(handed_over) && owner_is_done -> break
    od;
    // heap.c: heap_flush; remote_free.c: remote_free_flush
    if
    :: outbox[self] != NONE -> post_outbox()
    :: else
    fi;
    posters_left--
}

// When nobody moves any more, every block is back.
active proctype end()
{
    (posters_left == 0 && owner_has_ended) ->
        assert(lock == 0);
        assert(mailbox == NONE);
        assert(bin_count == 0);
        assert(bitmap == 7)
}
