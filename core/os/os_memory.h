// Memory from the system: whole pages.
// Layer: os.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Functions that can fail return 0 or an errno value (os_map: NULL); none sets errno.  Addresses
// and sizes are multiples of os_page_bytes().
#ifndef HAK_OS_OS_MEMORY_H
#define HAK_OS_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The page size of the running kernel, not of the build: 4 KiB to 64 KiB.
size_t os_page_bytes(void);

// Zeroed, private, readable and writable memory at a multiple of `align_bytes` (a power of two), or
// NULL.  Nothing is resident until it is touched, and overcommit does not count it.
void *os_map(size_t bytes, size_t align_bytes);

int os_unmap(void *address, size_t bytes);

// The same for a range that nobody needs any more, whose pages may be written: what the system refuses to
// unmap, where that would split a mapping and there are as many as there may be, is purged and noted.
void os_discard(void *address, size_t bytes);

// Unmaps what was noted, until the system refuses again.  Returns the bytes unmapped.
size_t os_unmap_discarded(void);

// Gives the pages back; they read as zero afterwards.
int os_purge(void *address, size_t bytes);

// Grows or shrinks a mapping, moving its pages if it grows and there is no room behind it.  NULL on
// failure, and then nothing has changed.
void *os_resize(void *address, size_t old_bytes, size_t bytes);

// Moves the pages of a range to a mapping of their own; the range stays mapped and reads as zero.  NULL:
// the system can't, or a page is locked in memory, which the range would no longer be; then nothing has
// changed.
void *os_detach_pages(void *address, size_t bytes);

// Makes the pages resident at once, as if each were written; where the system can't, they will be when
// they are touched.
void os_populate(void *address, size_t bytes);

// No access from here on: a guard.
int os_guard(void *address, size_t bytes);

// Readable and writable again.
int os_unguard(void *address, size_t bytes);

// Address space that nobody may touch, at a multiple of `align_bytes`, or NULL.
void *os_reserve(size_t bytes, size_t align_bytes);

// Gives the pages back and allows no access from here on.
int os_shut(void *address, size_t bytes);

// Moves a mapping to `target`, over what is mapped there, and makes it longer.
int os_move(void *address, size_t old_bytes, size_t bytes, void *target);

// The size of a huge page of this kernel's page size.
size_t os_huge_page_bytes(void);

// Lets the kernel back the range with huge pages.
void os_want_huge_pages(void *address, size_t bytes);

// Keeps the kernel from backing the range with huge pages, where it would do so unasked.
void os_avoid_huge_pages(void *address, size_t bytes);

// Can the eight bytes at `address`, a multiple of eight, be read?  For pointers that may lead anywhere.
bool os_can_read(const void *address);

// Where the memory that brk has given this process ends.
uintptr_t os_break(void);

// Where the program's own image ends, its static variables included: the memory of brk lies above.
uintptr_t os_program_end(void);

// System calls that change mappings, made by this file since the start.
size_t os_memory_call_count(void);

#endif
