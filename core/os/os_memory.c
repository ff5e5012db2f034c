// SPDX-License-Identifier: MIT
#include "os/os_memory.h"

#include "base/bits.h"
#include "base/compiler.h"
#include "os/syscall.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

// A discarded range that is still mapped.  The note stands at its start.
struct discarded {
    struct discarded *next;
    size_t bytes;
};

// page_bytes is written with the same value by whoever comes first; call_count is a statistic.  discarded:
// pushed by any thread with release, taken as a whole with an acquire exchange; so a fork finds no lock.
static struct {
    _Atomic size_t page_bytes;
    _Atomic size_t call_count;
    _Atomic(struct discarded *) discarded;
} os_memory;

size_t os_page_bytes(void)
{
    size_t bytes = atomic_load_explicit(&os_memory.page_bytes, memory_order_relaxed);
    if (unlikely(bytes == 0)) {
        bytes = getauxval(AT_PAGESZ);
        atomic_store_explicit(&os_memory.page_bytes, bytes, memory_order_relaxed);
    }
    return bytes;
}

static long counted_call(long number, const void *address, size_t bytes, long c, long d, long e)
{
    atomic_fetch_add_explicit(&os_memory.call_count, 1, memory_order_relaxed);
    return os_syscall(number, (long)address, (long)bytes, c, d, e, 0);
}

static char *map_anywhere(size_t bytes, int access)
{
    long result = counted_call(SYS_mmap, NULL, bytes, access,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    return (result < 0 && result > -4096) ? NULL : (char *)result;
}

// Only where pages may be written can what is not unmapped be noted.
static void drop(char *address, size_t bytes, int access)
{
    if (access == PROT_NONE) {
        (void)os_unmap(address, bytes);
    } else {
        os_discard(address, bytes);
    }
}

static char *map_aligned(size_t bytes, size_t align_bytes, int access)
{
    (void)os_unmap_discarded();
    char *address = map_anywhere(bytes, access);
    if (address == NULL || ((uintptr_t)address & (align_bytes - 1)) == 0) {
        return address;
    }
    drop(address, bytes, access);
    size_t wide_bytes = bytes + align_bytes - os_page_bytes();
    if (wide_bytes < bytes || (address = map_anywhere(wide_bytes, access)) == NULL) {
        return NULL;
    }
    char *start = (char *)align_up((uintptr_t)address, align_bytes);
    size_t head_bytes = (size_t)(start - address);
    size_t tail_bytes = wide_bytes - head_bytes - bytes;
    if (head_bytes != 0) {
        drop(address, head_bytes, access);
    }
    if (tail_bytes != 0) {
        drop(start + bytes, tail_bytes, access);
    }
    return start;
}

void *os_map(size_t bytes, size_t align_bytes)
{
    return map_aligned(bytes, align_bytes, PROT_READ | PROT_WRITE);
}

void *os_reserve(size_t bytes, size_t align_bytes)
{
    return map_aligned(bytes, align_bytes, PROT_NONE);
}

int os_unmap(void *address, size_t bytes)
{
    return (int)-counted_call(SYS_munmap, address, bytes, 0, 0, 0);
}

int os_purge(void *address, size_t bytes)
{
    return (int)-counted_call(SYS_madvise, address, bytes, MADV_DONTNEED, 0, 0);
}

static void note_discarded(struct discarded *range)
{
    range->next = atomic_load_explicit(&os_memory.discarded, memory_order_relaxed);
    // Release: pairs with the acquire exchange in os_unmap_discarded.
    while (!atomic_compare_exchange_weak_explicit(&os_memory.discarded, &range->next, range,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

void os_discard(void *address, size_t bytes)
{
    if (os_unmap(address, bytes) != 0) {
        (void)os_purge(address, bytes);
        struct discarded *range = address;
        range->bytes = bytes;
        note_discarded(range);
    }
}

size_t os_unmap_discarded(void)
{
    size_t unmapped_bytes = 0;
    bool is_refused = false;
    // Acquire: pairs with the release in note_discarded.
    struct discarded *range =
        atomic_load_explicit(&os_memory.discarded, memory_order_relaxed) == NULL
            ? NULL
            : atomic_exchange_explicit(&os_memory.discarded, NULL, memory_order_acquire);
    while (range != NULL) {
        struct discarded *next = range->next;
        size_t bytes = range->bytes;
        is_refused = is_refused || os_unmap(range, bytes) != 0;
        if (is_refused) {
            note_discarded(range);
        } else {
            unmapped_bytes += bytes;
        }
        range = next;
    }
    return unmapped_bytes;
}

// Callers rely on it that what shrinks stays where it is.  Linux keeps it there whatever the flags
// say; an emulator of user mode (qemu) moves whatever may be moved.
void *os_resize(void *address, size_t old_bytes, size_t bytes)
{
    long flags = bytes > old_bytes ? MREMAP_MAYMOVE : 0;
    long result = counted_call(SYS_mremap, address, old_bytes, (long)bytes, flags, 0);
    return (result < 0 && result > -4096) ? NULL : (void *)result;
}

// Without MREMAP_FIXED, which would unmap what is at the target before anything is checked.
void *os_detach_pages(void *address, size_t bytes)
{
    enum {
        DONT_UNMAP = 4
    };  // MREMAP_DONTUNMAP, Linux 5.7
    if (counted_call(SYS_msync, address, bytes, MS_INVALIDATE, 0, 0) != 0) {
        return NULL;  // EBUSY: a page is locked
    }
    long result =
        counted_call(SYS_mremap, address, bytes, (long)bytes, MREMAP_MAYMOVE | DONT_UNMAP, 0);
    if (result < 0 && result > -4096) {
        return NULL;
    }
    // An emulator of user mode (qemu) takes what was left for unmapped: it would fault there, or not
    // purge it.  To Linux this is empty pages over empty pages.
    (void)counted_call(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1);
    return (void *)result;
}

int os_guard(void *address, size_t bytes)
{
    return (int)-counted_call(SYS_mprotect, address, bytes, PROT_NONE, 0, 0);
}

int os_unguard(void *address, size_t bytes)
{
    return (int)-counted_call(SYS_mprotect, address, bytes, PROT_READ | PROT_WRITE, 0, 0);
}

int os_shut(void *address, size_t bytes)
{
    long result = counted_call(SYS_mmap, address, bytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1);
    return (result < 0 && result > -4096) ? (int)-result : 0;
}

int os_move(void *address, size_t old_bytes, size_t bytes, void *target)
{
    atomic_fetch_add_explicit(&os_memory.call_count, 1, memory_order_relaxed);
    long result = os_syscall(SYS_mremap, (long)address, (long)old_bytes, (long)bytes,
                             MREMAP_MAYMOVE | MREMAP_FIXED, (long)target, 0);
    return (result < 0 && result > -4096) ? (int)-result : 0;
}

void os_populate(void *address, size_t bytes)
{
    enum {
        POPULATE_WRITE = 23
    };  // MADV_POPULATE_WRITE, Linux 5.14
    (void)counted_call(SYS_madvise, address, bytes, POPULATE_WRITE, 0, 0);
}

// A page of page-table entries, of eight bytes each, maps one.
size_t os_huge_page_bytes(void)
{
    return os_page_bytes() / 8 * os_page_bytes();
}

void os_want_huge_pages(void *address, size_t bytes)
{
    (void)counted_call(SYS_madvise, address, bytes, MADV_HUGEPAGE, 0, 0);
}

void os_avoid_huge_pages(void *address, size_t bytes)
{
    (void)counted_call(SYS_madvise, address, bytes, MADV_NOHUGEPAGE, 0, 0);
}

// The kernel reads the set before it refuses the unknown request (the idea is Abseil's AddressIsReadable).
bool os_can_read(const void *address)
{
    enum {
        NO_SUCH_REQUEST = -1,
        SET_BYTES = 8
    };
    return os_syscall(SYS_rt_sigprocmask, NO_SUCH_REQUEST, (long)address, 0, SET_BYTES, 0, 0) ==
           -EINVAL;
}

uintptr_t os_break(void)
{
    return (uintptr_t)os_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
}

// A program without PT_PHDR was linked to the addresses that it runs at.
uintptr_t os_program_end(void)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);
    uintptr_t bias = 0;
    uintptr_t end = 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t segment_end = headers[i].p_vaddr + headers[i].p_memsz;
        if (headers[i].p_type == PT_PHDR) {
            bias = (uintptr_t)headers - headers[i].p_vaddr;
        } else if (headers[i].p_type == PT_LOAD && segment_end > end) {
            end = segment_end;
        }
    }
    return bias + end;
}

size_t os_memory_call_count(void)
{
    return atomic_load_explicit(&os_memory.call_count, memory_order_relaxed);
}
