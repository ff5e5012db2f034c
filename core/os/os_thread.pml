// The lock of core/os/os_thread.h and os_thread.c: three threads take and give it.
// SPDX-License-Identifier: MIT
//
// Shown: never two holders, and no thread sleeps for good (an invalid end state).
// tests/model/run.sh runs it as it stands, then with each BUG_... defined, which it must find.

#define THREADS 3
#define ROUNDS  2

// struct lock: word.  A holder's number has the low half that all numbers share here, the worst case:
// the futex then can't tell holders apart.
byte word_holder = 0;       // 0: unlocked
bool word_sleeper = false;  // LOCK_SLEEPER
bool is_asleep[THREADS + 1];
byte inside = 0;

// os_thread.h: lock_try, one compare and exchange
inline lock_try()
{
    atomic {
        is_taken = word_holder == 0 && !word_sleeper;
        if
        :: is_taken -> word_holder = self
        :: else
        fi
    }
}

// os_thread.c: take_as_sleeper
inline take_as_sleeper()
{
    atomic {
        is_taken = word_holder == 0 && !word_sleeper;
        if
        :: is_taken ->
            word_holder = self;
#ifndef BUG_SLEEPER_FORGETS_THE_OTHERS
            word_sleeper = true
#endif
        :: else
        fi
    }
}

// os_thread.c: sleep_on, and the kernel's FUTEX_WAIT, which compares and sleeps in one step
inline sleep_on()
{
    atomic { seen_holder = word_holder; seen_sleeper = word_sleeper }
    is_set = seen_holder != 0 || seen_sleeper;
    if
    :: is_set && !seen_sleeper ->
#ifdef BUG_SLEEPER_BIT_BY_A_STORE
        word_holder = seen_holder;
        word_sleeper = true
#else
        atomic {
            is_set = word_holder == seen_holder && !word_sleeper;
            word_sleeper = word_sleeper || is_set
        }
#endif
    :: else
    fi;
    if
    :: is_set ->
#ifdef BUG_WAIT_WITHOUT_COMPARING
        is_asleep[self] = true;
#else
        is_asleep[self] = word_holder != 0 && word_sleeper;
#endif
        !is_asleep[self]
    :: else
    fi
}

// os_thread.c: lock_wake, FUTEX_WAKE of one sleeper, whichever
inline lock_wake()
{
    atomic {
        if
        :: is_asleep[1] -> is_asleep[1] = false
        :: is_asleep[2] -> is_asleep[2] = false
        :: is_asleep[3] -> is_asleep[3] = false
        :: else
        fi
    }
}

// os_thread.h: lock_give
inline lock_give()
{
#ifdef BUG_GIVE_BY_LOAD_AND_STORE
    seen_sleeper = word_sleeper;
    atomic { word_holder = 0; word_sleeper = false };
#else
    atomic { seen_sleeper = word_sleeper; word_holder = 0; word_sleeper = false };
#endif
    if
#ifdef BUG_GIVE_WITHOUT_WAKING
    :: seen_sleeper -> skip
#else
    :: seen_sleeper -> lock_wake()
#endif
    :: else
    fi
}

active [THREADS] proctype thread()
{
    byte self = _pid + 1;
    byte round = 0;
    byte seen_holder;
    bool seen_sleeper;
    bool is_set;
    bool is_taken;
    do
    :: round < ROUNDS ->
        round++;
        lock_try();
        if
        :: !is_taken ->
            // lock_take_slow: a spin is one more try; then it sleeps until it has the lock
            lock_try();
            do
            :: is_taken -> break
            :: else ->
                take_as_sleeper();
                if
                :: !is_taken -> sleep_on()
                :: else
                fi
            od
        :: else
        fi;
        inside++;
        assert(inside == 1);
        inside--;
        lock_give()
    :: else -> break
    od
}
