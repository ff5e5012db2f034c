// The system as it is when it refuses: the linker leads the calls of core/os/os_memory.h through here.
// SPDX-License-Identifier: MIT
//
// Every call that isn't refused is the real one, but for the machine's pages and addresses; see os_machine.h.
#ifndef TESTS_OS_REFUSAL_H
#define TESTS_OS_REFUSAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The calls that can be refused by number.
enum os_call {
    OS_CALL_MAP = 1,
    OS_CALL_UNMAP = 2,
    OS_CALL_PURGE = 4,
    OS_CALL_RESIZE = 8,
    OS_CALL_DETACH = 16,
    OS_CALL_GUARD = 32,
    OS_CALL_ALL = 63,
};

struct os_refusal {
    bool is_purge_refused;
    bool is_unmap_refused;
    bool is_resize_refused;
    bool is_move_refused;
    bool is_map_refused;
    size_t maps_before_refusal;  // so many are let through before is_map_refused counts
    size_t map_bytes_most;       // longer maps are refused; 0: none for its length
    char *next_map;              // if not NULL, the next map is put at this address
    unsigned counted_calls;      // enum os_call: the kinds that are counted; 0: none
    size_t first_refused;  // the number of the first counted call to refuse, from 1 on; 0: none
    size_t refused_most;   // so many from there on
    _Atomic size_t call_count;  // of the kinds counted, by any thread
};

extern struct os_refusal os_refusal;

// Nothing is refused from here on.
void os_refusal_end(void);

#endif
