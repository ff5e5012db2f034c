// What the kernel says of this process's memory.  Reads /proc with read(2) and allocates nothing.
// SPDX-License-Identifier: MIT
#ifndef TESTS_PROCESS_MEMORY_H
#define TESTS_PROCESS_MEMORY_H

#include <stddef.h>

size_t process_rss_bytes(void);
size_t process_vsz_bytes(void);

// The highest RSS so far; process_reset_peak starts it anew from the present RSS.
size_t process_peak_rss_bytes(void);
void process_reset_peak(void);

// The number of mappings, one a line of /proc/self/maps.
size_t process_map_count(void);

void sleep_ms(unsigned ms);

// Waits until the RSS is at most `limit_bytes` or `timeout_ms` have gone by, calling nothing that
// allocates; returns the RSS then.
size_t process_await_rss(size_t limit_bytes, unsigned timeout_ms);

#endif
