// SPDX-License-Identifier: MIT
#include "os_refusal.h"

#include "os_machine.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

// The names are the linker's: --wrap=os_map makes the callers of os_map call __wrap_os_map.
int __real_os_unmap(void *address, size_t bytes);
void __real_os_discard(void *address, size_t bytes);
int __real_os_purge(void *address, size_t bytes);
void *__real_os_resize(void *address, size_t old_bytes, size_t bytes);
void *__real_os_detach_pages(void *address, size_t bytes);
void __real_os_populate(void *address, size_t bytes);
int __real_os_guard(void *address, size_t bytes);
void __real_os_want_huge_pages(void *address, size_t bytes);
void __real_os_avoid_huge_pages(void *address, size_t bytes);
size_t __wrap_os_page_bytes(void);
size_t __wrap_os_huge_page_bytes(void);
void *__wrap_os_map(size_t bytes, size_t align_bytes);
void *__wrap_os_reserve(size_t bytes, size_t align_bytes);
int __wrap_os_unmap(void *address, size_t bytes);
void __wrap_os_discard(void *address, size_t bytes);
int __wrap_os_purge(void *address, size_t bytes);
void *__wrap_os_resize(void *address, size_t old_bytes, size_t bytes);
void *__wrap_os_detach_pages(void *address, size_t bytes);
void __wrap_os_populate(void *address, size_t bytes);
int __wrap_os_guard(void *address, size_t bytes);
void __wrap_os_want_huge_pages(void *address, size_t bytes);
void __wrap_os_avoid_huge_pages(void *address, size_t bytes);

struct os_refusal os_refusal;

void os_refusal_end(void)
{
    memset(&os_refusal, 0, sizeof os_refusal);
}

// Relaxed: the number orders nothing.
static bool refuses_by_number(enum os_call call)
{
    if ((os_refusal.counted_calls & call) == 0) {
        return false;
    }
    size_t number = atomic_fetch_add_explicit(&os_refusal.call_count, 1, memory_order_relaxed) + 1;
    size_t first = os_refusal.first_refused;
    return first != 0 && number >= first && number - first < os_refusal.refused_most;
}

static bool refuses_map(size_t bytes)
{
    if (refuses_by_number(OS_CALL_MAP)) {
        return true;
    }
    if (os_refusal.map_bytes_most != 0 && bytes > os_refusal.map_bytes_most) {
        return true;
    }
    if (os_refusal.is_map_refused && os_refusal.maps_before_refusal > 0) {
        os_refusal.maps_before_refusal--;
        return false;
    }
    return os_refusal.is_map_refused;
}

size_t __wrap_os_page_bytes(void)
{
    return machine_page_bytes();
}

// As in os_memory.c.
size_t __wrap_os_huge_page_bytes(void)
{
    return machine_page_bytes() / 8 * machine_page_bytes();
}

void *__wrap_os_map(size_t bytes, size_t align_bytes)
{
    machine_check("os_map", (void *)align_bytes, bytes);
    if (refuses_map(bytes)) {
        return NULL;
    }
    if (os_refusal.next_map != NULL) {
        void *address = os_refusal.next_map;
        os_refusal.next_map = NULL;
        void *mapped = mmap(address, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        return mapped == MAP_FAILED ? NULL : mapped;
    }
    return machine_map(bytes, align_bytes);
}

void *__wrap_os_reserve(size_t bytes, size_t align_bytes)
{
    machine_check("os_reserve", (void *)align_bytes, bytes);
    return refuses_map(bytes) ? NULL : machine_reserve(bytes, align_bytes);
}

int __wrap_os_unmap(void *address, size_t bytes)
{
    machine_check("os_unmap", address, bytes);
    bool is_refused = refuses_by_number(OS_CALL_UNMAP) || os_refusal.is_unmap_refused;
    return is_refused ? ENOMEM : __real_os_unmap(address, bytes);
}

void __wrap_os_discard(void *address, size_t bytes)
{
    machine_check("os_discard", address, bytes);
    __real_os_discard(address, bytes);
}

int __wrap_os_purge(void *address, size_t bytes)
{
    machine_check("os_purge", address, bytes);
    bool is_refused = refuses_by_number(OS_CALL_PURGE) || os_refusal.is_purge_refused;
    return is_refused ? EAGAIN : __real_os_purge(address, bytes);
}

void *__wrap_os_resize(void *address, size_t old_bytes, size_t bytes)
{
    machine_check("os_resize", address, old_bytes | bytes);
    if (refuses_by_number(OS_CALL_RESIZE) || os_refusal.is_resize_refused) {
        return NULL;
    }
    void *resized = __real_os_resize(address, old_bytes, bytes);
    return resized == address ? resized : machine_place(resized, bytes);
}

void *__wrap_os_detach_pages(void *address, size_t bytes)
{
    machine_check("os_detach_pages", address, bytes);
    bool is_refused = refuses_by_number(OS_CALL_DETACH) || os_refusal.is_move_refused;
    return is_refused ? NULL : machine_place(__real_os_detach_pages(address, bytes), bytes);
}

void __wrap_os_populate(void *address, size_t bytes)
{
    machine_check("os_populate", address, bytes);
    __real_os_populate(address, bytes);
}

int __wrap_os_guard(void *address, size_t bytes)
{
    machine_check("os_guard", address, bytes);
    return refuses_by_number(OS_CALL_GUARD) ? ENOMEM : __real_os_guard(address, bytes);
}

void __wrap_os_want_huge_pages(void *address, size_t bytes)
{
    machine_check("os_want_huge_pages", address, bytes);
    __real_os_want_huge_pages(address, bytes);
}

void __wrap_os_avoid_huge_pages(void *address, size_t bytes)
{
    machine_check("os_avoid_huge_pages", address, bytes);
    __real_os_avoid_huge_pages(address, bytes);
}
