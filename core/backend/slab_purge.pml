// A purge inside a slab, as in core/backend/slab_purge.c and backend_purge.c, while other threads take and
// give back its blocks, purge it too, fork, and destroy the heap.
// SPDX-License-Identifier: MIT
//
// Shown: no page goes back to the system under a block that is taken or in a slab that was given away; no
// block is handed out twice; what counts as purged is purged, and the budget counts the rest; nobody waits
// for good.
// tests/model/run.sh runs it as it stands, then with each BUG_... defined, which it must find.
//
// The slab has two granules and three blocks; the middle block lies in both granules.

#define USERS  2
#define ROUNDS 2
#define ALL    7
#define NONE   0
#define FIRST  1  // granules
#define SECOND 2

#define blocks_of(granule)  (granule == FIRST -> 3 : 6)
#define granules_of(block)  (block == 1 -> FIRST : (block == 2 -> FIRST | SECOND : SECOND))
#define is_empty(granule)   ((bitmap & blocks_of(granule)) == blocks_of(granule))
#define count_of(granules)  ((granules & FIRST) + ((granules >> 1) & FIRST))
#define lowest(bits)        (bits & 1 -> 1 : (bits & 2 -> 2 : 4))
#define lowest_of_two(bits) (bits & 1 -> 1 : 2)

#ifdef BUG_PURGE_WITHOUT_DETACHING
#define is_being_purged     (pending != 0)
#else
#define is_being_purged     (list == DETACHED)
#endif

mtype = { LINKED, DETACHED, GIVEN_AWAY, DESTROYED };

// The owner's lock guards all of the slab; `pending` belongs to the purge while the slab is detached.
byte lock = 0;
mtype list = LINKED;
byte bitmap = ALL;  // free blocks
byte purged = 0;    // granules
byte pending = 0;
bool is_purging = false;
byte committed = 2;  // granules that the budget counts for the slab

byte gone = 0;  // granules that the system has back
byte live = 0;  // blocks of the program
bool is_child = false;
byte users_left = USERS;
byte others_left = 3;

inline lock_take()
{
    atomic { lock == 0 -> lock = _pid + 1 }
}

inline lock_give()
{
    assert(lock == _pid + 1);
    lock = 0
}

// slab.c: release.  The page heap counts the whole span.
inline release(new_list)
{
    committed = committed + count_of(purged);
    assert(committed == 2);
    list = new_list
}

// slab.c: place
inline place()
{
    if
    :: bitmap == ALL -> release(GIVEN_AWAY)
    :: else -> list = LINKED
    fi
}

// slab_purge.c: slab_unpurge, slab.c: undo_take and take_resident.  The limit may forbid more pages.
inline take_blocks()
{
    block = lowest(bitmap);
    bitmap = bitmap & ~block;
    used = granules_of(block) & purged;
#ifndef BUG_REFILL_FORGETS_PURGED_PAGES
    if
    :: used != 0 -> committed = committed + count_of(used); purged = purged & ~used
    :: used != 0 ->
        bitmap = bitmap | block;
        block = NONE;
        if
        :: (bitmap & 1) && !(purged & FIRST) -> block = 1
        :: (bitmap & 4) && !(purged & SECOND) -> block = 4
        :: else
        fi;
        bitmap = bitmap & ~block
    :: used == 0
    fi;
#endif
    used = 0
}

// slab.c: slab_refill, one block
inline slab_refill()
{
    lock_take();
    atomic {
        block = NONE;
        if
        :: list == LINKED && bitmap != 0 -> take_blocks()
        :: else
        fi;
        assert((live & block) == 0);
        assert(block == NONE || (purged & granules_of(block)) == 0);
        live = live | block;
        gone = gone & ~(block == NONE -> 0 : granules_of(block))
    };
    lock_give()
}

// slab.c: slab_add
inline slab_add()
{
    lock_take();
    atomic {
        if
        :: list == GIVEN_AWAY -> bitmap = ALL; purged = 0; pending = 0; list = LINKED
        :: else
        fi
    };
    lock_give()
}

// slab.c: give_run and replace
inline slab_flush()
{
#ifndef BUG_FLUSH_WITHOUT_THE_LOCK
    lock_take();
#endif
    atomic { live = live & ~block; bits = bitmap };
    assert((bits & block) == 0);
    bitmap = bits | block;
    bits = 0;
    block = NONE;
    atomic {
        if
#ifdef BUG_FLUSH_GIVES_AWAY_A_DETACHED_SLAB
        :: bitmap == ALL -> place()
#else
        :: bitmap == ALL && list != DETACHED -> place()
#endif
        :: else
        fi
    };
#ifndef BUG_FLUSH_WITHOUT_THE_LOCK
    lock_give()
#endif
}

// slab_purge.c: slab_purge_find
inline slab_purge_find()
{
    atomic {
        if
        :: list == LINKED ->
            found = (is_empty(FIRST) -> FIRST : 0) | (is_empty(SECOND) -> SECOND : 0);
            found = found & ~purged;
            pending = found
        :: else
        fi
    }
}

// backend_purge.c: begin; slab_purge.c: slab_purge_begin.  Where this slab has nothing, another may.
inline begin()
{
#ifdef BUG_FIND_WITHOUT_THE_LOCK
    slab_purge_find();
    lock_take();
#else
    lock_take();
    slab_purge_find();
#endif
    atomic {
        if
#ifdef BUG_TWO_PURGES_AT_ONCE
        :: !is_child ->
#else
        :: !is_child && !is_purging ->
#endif
            begun = true;
            is_purging = true;
#ifndef BUG_PURGE_WITHOUT_DETACHING
            if
            :: found != 0 -> list = DETACHED
            :: else
            fi
#endif
        :: true
        fi;
        found = 0
    };
    lock_give()
}

// slab_purge.c: purge_pending.  The system may refuse.
inline slab_purge_pending()
{
    left = (is_being_purged -> pending : 0);
    do
    :: left != 0 && !is_child ->
        granule = lowest_of_two(left);
        atomic {
            if
            :: !is_child ->
                assert(list == LINKED || list == DETACHED);
                assert(is_empty(granule));
                gone = gone | granule
            :: !is_child -> refused = granule
            :: is_child
            fi
        };
        pending = pending & ~refused;
        refused = 0;
        left = left & ~granule;
        granule = 0
    :: else -> break
    od;
    left = 0
}

// slab_purge.c: finish, slab_reattach; backend_purge.c: finish
inline finish()
{
    atomic {
        if
        :: is_being_purged ->
            purged = purged | pending;
            committed = committed - count_of(pending);
            pending = 0;
            assert((purged & ~gone) == 0);
            place()
        :: else
        fi;
        is_purging = false
    }
}

// slab_purge.c: slab_purge_forget.  Whether the pages are gone isn't known: they count.
inline slab_purge_forget()
{
    atomic {
        if
        :: list == DETACHED -> pending = 0; place()
        :: else
        fi
    }
}

active [USERS] proctype user()
{
    byte rounds = 0;
    byte block, bits, used;
    do
    :: rounds < ROUNDS ->
        rounds++;
        slab_refill();
        if
        :: block == NONE -> slab_add(); slab_refill()
        :: else
        fi;
        if
        :: block != NONE -> slab_flush()
        :: true -> block = NONE  // the program keeps it
        fi
    :: rounds == ROUNDS -> break
    :: true -> break
    od;
    rounds = ROUNDS;
    users_left--
}

// backend_purge.c: backend_purge_down_to.  A child has no such thread.
active [2] proctype purger()
{
    byte found, left, granule, refused;
    bool begun;
    begin();
    if
    :: begun ->
        slab_purge_pending();
        if
        :: !is_child ->
#ifdef BUG_FINISH_WITHOUT_THE_LOCK
            finish()
#else
            atomic { lock == 0 || is_child -> lock = (is_child -> lock : _pid + 1) };
            if
            :: !is_child -> finish(); lock_give()
            :: else
            fi
#endif
        :: else
        fi
    :: else
    fi;
    others_left--
}

// The child's side of a fork: heap_registry.c: heap_registry_lock_all and
// heap_registry_after_fork_in_child; backend_purge.c: backend_purge_forget
active proctype forker()
{
    if
    :: true ->
        atomic { lock == 0 -> lock = _pid + 1; is_child = true };
        slab_purge_forget();
        is_purging = false;
        lock_give()
    :: true
    fi;
    others_left--
}

// heap.c: heap_destroy_shared, once nobody uses the heap; a trim may still be purging it
active proctype destroyer()
{
    users_left == 0;
    lock_take();
#ifndef BUG_DESTROY_DURING_A_PURGE
    do
    :: is_purging -> lock_give(); !is_purging; lock_take()
    :: else -> break
    od;
#endif
    slab_purge_forget();
    atomic {
        assert(committed + count_of(purged) == 2 || list == GIVEN_AWAY);
        if
        :: list == LINKED -> release(DESTROYED)
        :: else -> list = DESTROYED
        fi;
        bitmap = 0
    };
    lock_give();
    others_left == 0 ->
        assert(committed == 2 && list == DESTROYED)
}
