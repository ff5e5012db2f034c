// Heaps that are parked, adopted and stolen from, as in core/thread/heap_registry.c: threads come and go
// while others free their blocks, and one process forks.
// SPDX-License-Identifier: MIT
//
// Shown: no block is lost, none is handed out twice or freed twice, no heap has two threads, a slab is
// touched by its owner alone, nobody waits for good; a fork finds the slab in the list of the owner that
// the page map names; and when all threads have ended no mailbox holds anything.
// tests/model/run.sh runs it as it stands, then with each BUG_... defined, which it must find.
//
// Left out: batches and outboxes, which remote_free.pml has (a mailbox is a set of blocks here); bins; the
// page heap (a slab whose blocks are all free stays).  The heap of an ended thread holds the only slab.

#define THREADS    3
#define OPERATIONS 1
#define HEAPS      4
#define ALL        7  // bits of the blocks
#define NONE       0
#define lowest(bits) (bits & 1 -> 1 : (bits & 2 -> 2 : 4))
#define FORKER     4

byte registry_lock = 0;
byte heap_count = 2;
byte parked = 1;  // the first one; `next` links the others
byte next[HEAPS + 1];
bool is_parked[HEAPS + 1];
byte lock[HEAPS + 1];
byte mailbox[HEAPS + 1];

// The slab.  `entry`: the owner, as the page map has it.  `linked_in`: in whose list it is; NONE while it
// is on its way.
byte entry = 1;
byte linked_in = 1;
byte bitmap = 3;

byte threads_left = THREADS;
byte runs_on[HEAPS + 1];  // threads of each heap
byte live = 4;            // blocks that the program holds

// os_thread.h: lock_take, lock_give
inline lock_take(which)
{
    atomic { which == 0 -> which = self }
}

inline lock_give(which)
{
    assert(which == self);
    which = 0
}

inline take_registry_lock()
{
    lock_take(registry_lock)
}

inline give_registry_lock()
{
    lock_give(registry_lock)
}

// slab.c: give_run for one block, in one step, as the owner's lock is held.
inline slab_flush(owner, block)
{
    atomic {
        assert(lock[owner] == self);
        assert(entry == owner);
        assert((bitmap & block) == 0);  // double free
        bitmap = bitmap | block
    }
}

// heap.c: heap_give_locked
inline heap_give_locked(block)
{
    do
    :: true ->
        owner = entry;
        lock_take(lock[owner]);
#ifndef BUG_ENTRY_IS_NOT_READ_AGAIN
        if
        :: entry != owner -> lock_give(lock[owner])
        :: else ->
#endif
            slab_flush(owner, block);
            lock_give(lock[owner]);
            break
#ifndef BUG_ENTRY_IS_NOT_READ_AGAIN
        fi
#endif
    od;
    owner = NONE
}

// remote_free.c: remote_free_drain; strays stay in `strays`
inline remote_free_drain(heap)
{
    atomic { drained = mailbox[heap]; mailbox[heap] = 0 };
    do
    :: drained == 0 -> break
    :: else ->
        at = lowest(drained);
        if
#ifndef BUG_STRAYS_ARE_KEPT
        :: entry != heap -> strays = strays | at
#endif
        :: else -> slab_flush(heap, at)
        fi;
        drained = drained & ~at;
        at = 0
    od
}

// remote_free.c: remote_free_forward
inline remote_free_forward()
{
    do
    :: strays == 0 -> break
    :: else ->
        at = lowest(strays);
        heap_give_locked(at);
        strays = strays & ~at;
        at = 0
    od
}

// remote_free.c: remote_free_empty_mailbox
inline remote_free_empty_mailbox(heap)
{
    lock_take(lock[heap]);
    remote_free_drain(heap);
#ifdef BUG_FORWARD_UNDER_THE_LOCK
    remote_free_forward();
    lock_give(lock[heap])
#else
    lock_give(lock[heap]);
    remote_free_forward()
#endif
}

// remote_free.c: post, and drain_for for a heap that is parked, whether or not it still is by then
inline post(heap, block)
{
    mailbox[heap] = mailbox[heap] | block;
    if
#ifdef BUG_PARKED_HEAP_IS_NOT_SEEN
    :: false
#else
    :: is_parked[heap] -> remote_free_empty_mailbox(heap)
#endif
    :: else
    fi
}

// slab.c: slab_move
inline slab_move(from, to)
{
#ifndef BUG_MOVE_WITHOUT_THE_OLD_LOCK
    lock_take(lock[from]);
#endif
    is_found = linked_in == from && bitmap != 0;
    if
    :: is_found -> linked_in = NONE; entry = to
    :: else
    fi;
#ifndef BUG_MOVE_WITHOUT_THE_OLD_LOCK
    lock_give(lock[from]);
#endif
    if
    :: is_found -> lock_take(lock[to]); linked_in = to; lock_give(lock[to])
    :: else
    fi
}

// heap_registry.c: heap_registry_steal; without the lock it doesn't wait
inline heap_registry_steal(heap)
{
    is_found = false;
    if
#ifdef BUG_STEAL_WITHOUT_THE_REGISTRY
    :: true ->
#else
    :: registry_lock != 0
    :: atomic { registry_lock == 0 -> registry_lock = self };
#endif
        other = parked;
        do
        :: other == NONE || is_found -> break
        :: else -> slab_move(other, heap); other = next[other]
        od;
        other = NONE;
#ifndef BUG_STEAL_WITHOUT_THE_REGISTRY
        give_registry_lock()
#endif
    fi
}

// slab.c: slab_refill, one block; 0 when there is none
inline slab_refill(heap)
{
    lock_take(lock[heap]);
    block = 0;
    if
    :: atomic {
        linked_in == heap && bitmap != 0 ->
        assert(entry == heap);
        block = lowest(bitmap);
        bitmap = bitmap & ~block
    }
    :: else
    fi;
    lock_give(lock[heap])
}

// malloc_slow.c and heap_refill.c: the mailbox, the slabs, those of parked heaps
inline heap_malloc()
{
    if
    :: mailbox[mine] != 0 -> remote_free_empty_mailbox(mine)
    :: else
    fi;
    slab_refill(mine);
    if
    :: block == 0 ->
        heap_registry_steal(mine);
        if
        :: is_found -> slab_refill(mine)
        :: else
        fi
    :: else
    fi;
    is_found = false;
    atomic {
        assert((live & block) == 0);  // handed out twice
        live = live | block;
        block = 0
    }
}

// free_slow.c: a block of one's own goes back at once; another's is posted to the owner that the entry names
inline heap_free()
{
    atomic {
        if
        :: live != 0 -> block = lowest(live)
        :: else
        fi;
        live = live & ~block
    };
    if
    :: block != 0 ->
        seen = entry;
        if
        :: seen == mine -> lock_take(lock[mine]); slab_flush(mine, block); lock_give(lock[mine])
        :: else -> post(seen, block)
        fi;
        seen = NONE;
        block = 0
    :: else
    fi
}

// heap_registry.c: heap_registry_adopt with pop_parked and make_heap
inline heap_registry_adopt()
{
#ifdef BUG_ADOPT_WITHOUT_THE_REGISTRY
    mine = parked;
    parked = next[mine];
    is_parked[mine] = false;
#else
    take_registry_lock();
    atomic {
        mine = parked;
        if
        :: mine != NONE -> parked = next[mine]; next[mine] = NONE; is_parked[mine] = false
        :: else -> heap_count++; mine = heap_count
        fi
    };
    give_registry_lock();
#endif
    runs_on[mine]++;
    assert(runs_on[mine] == 1)
}

// process.c: thread_is_ending; heap_registry.c: heap_registry_park
inline thread_is_ending()
{
    remote_free_empty_mailbox(mine);
#ifdef BUG_LAST_LOOK_BEFORE_PARKING
    remote_free_empty_mailbox(mine);
#endif
    runs_on[mine]--;
    take_registry_lock();
    atomic { next[mine] = parked; parked = mine; is_parked[mine] = true };
    give_registry_lock();
#ifndef BUG_LAST_LOOK_BEFORE_PARKING
    remote_free_empty_mailbox(mine)
#endif
}

proctype thread(byte self; byte mine; bool ends)
{
    byte operations = 0;
    byte other, owner, seen, block, drained, at, strays;
    bool is_found;
    if
    :: mine == NONE -> heap_registry_adopt()
    :: else
    fi;
    do
    :: operations < OPERATIONS -> operations++;
        if
        :: true -> heap_malloc()
        :: true -> heap_free()
        fi
    :: break
    od;
    operations = OPERATIONS;
    if
    :: ends -> thread_is_ending()
    :: else
    fi;
    threads_left--
}

// heap_registry.c: heap_registry_lock_all, what a child would find, and heap_registry_unlock_all
proctype forker(byte self)
{
    byte heap = 1;
#ifdef BUG_FORK_LOCKS_HEAPS_FIRST
    lock_take(lock[1]);
    take_registry_lock();
    heap++;
#else
    take_registry_lock();
#endif
    do
    :: heap <= heap_count -> lock_take(lock[heap]); heap++
    :: else -> break
    od;
    assert(linked_in == entry);
    do
    :: heap > 1 -> heap--; lock_give(lock[heap])
    :: else -> break
    od;
    give_registry_lock()
}

inline check_end(heap)
{
    assert(mailbox[heap] == 0 || !is_parked[heap]);
    out = out | mailbox[heap]
}

init
{
    byte out = 0;
    atomic {
        is_parked[1] = true;
        runs_on[2] = 1;
        run thread(1, NONE, false);
        run thread(2, 2, true);
        // the third thread has a heap already, or not
        if
        :: true -> run thread(3, NONE, false)
        :: true -> heap_count = 3; runs_on[3] = 1; run thread(3, 3, false)
        fi;
        run forker(FORKER)
    };
    threads_left == 0 ->
        atomic {
            check_end(1);
            check_end(2);
            check_end(3);
            check_end(4);
            out = out | live;
            assert((bitmap & out) == 0 && (bitmap | out) == ALL);
            assert(linked_in == entry)
        }
}
