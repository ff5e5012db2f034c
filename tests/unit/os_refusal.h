// The system as it is when it refuses: the linker leads the calls of core/os/os_memory.h through here.
// SPDX-License-Identifier: MIT
//
// Every call that isn't refused is the real one.  For programs in the list `refusable` of
// CMakeLists.txt.
#ifndef TESTS_OS_REFUSAL_H
#define TESTS_OS_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

struct os_refusal {
    bool is_purge_refused;
    bool is_unmap_refused;
    bool is_resize_refused;
    bool is_move_refused;
    bool is_map_refused;
    size_t maps_before_refusal;  // so many are let through before is_map_refused counts
    size_t map_bytes_most;       // longer maps are refused; 0: none for its length
    char *next_map;              // if not NULL, the next map is put at this address
};

extern struct os_refusal os_refusal;

// Nothing is refused from here on.
void os_refusal_end(void);

#endif
