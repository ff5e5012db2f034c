// Another machine than this one, for the calls of core/os/os_memory.h that the linker leads here: pages
// longer than this kernel's, or addresses below a bound of one's own.
// SPDX-License-Identifier: MIT
//
// HAK_TEST_PAGE_BYTES  the page size, a multiple of the kernel's: every address and length that reaches the
//                      system must be a multiple of it, else the program ends with a line
// HAK_TEST_TOP_BITS    the address bits, at most 47: mappings lie right below 2^bits, and none may be longer
//                      than an eighth of that space
// Unset: this machine as it is, but mappings begin at the border of a zone of the page map.
#ifndef TESTS_OS_MACHINE_H
#define TESTS_OS_MACHINE_H

#include <stddef.h>

size_t machine_page_bytes(void);

// A mapping as os_map makes it, or as os_reserve does; or NULL.
void *machine_map(size_t bytes, size_t align_bytes);
void *machine_reserve(size_t bytes, size_t align_bytes);

// A mapping that the kernel has put anywhere, moved to where the machine would have it.  NULL stays NULL.
void *machine_place(void *address, size_t bytes);

// Ends the program when an argument of `call` is not whole pages.
void machine_check(const char *call, const void *address, size_t bytes);

#endif
