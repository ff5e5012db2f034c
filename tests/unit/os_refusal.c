// SPDX-License-Identifier: MIT
#include "os_refusal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

// The names are the linker's: --wrap=os_map makes the callers of os_map call __wrap_os_map.
void *__real_os_map(size_t bytes, size_t align_bytes);
void *__real_os_reserve(size_t bytes, size_t align_bytes);
int __real_os_unmap(void *address, size_t bytes);
int __real_os_purge(void *address, size_t bytes);
void *__real_os_resize(void *address, size_t old_bytes, size_t bytes);
void *__real_os_detach_pages(void *address, size_t bytes);
void *__wrap_os_map(size_t bytes, size_t align_bytes);
void *__wrap_os_reserve(size_t bytes, size_t align_bytes);
int __wrap_os_unmap(void *address, size_t bytes);
int __wrap_os_purge(void *address, size_t bytes);
void *__wrap_os_resize(void *address, size_t old_bytes, size_t bytes);
void *__wrap_os_detach_pages(void *address, size_t bytes);

struct os_refusal os_refusal;

void os_refusal_end(void)
{
    memset(&os_refusal, 0, sizeof os_refusal);
}

static bool refuses_map(size_t bytes)
{
    if (os_refusal.map_bytes_most != 0 && bytes > os_refusal.map_bytes_most) {
        return true;
    }
    if (os_refusal.is_map_refused && os_refusal.maps_before_refusal > 0) {
        os_refusal.maps_before_refusal--;
        return false;
    }
    return os_refusal.is_map_refused;
}

void *__wrap_os_map(size_t bytes, size_t align_bytes)
{
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
    return __real_os_map(bytes, align_bytes);
}

void *__wrap_os_reserve(size_t bytes, size_t align_bytes)
{
    return refuses_map(bytes) ? NULL : __real_os_reserve(bytes, align_bytes);
}

int __wrap_os_unmap(void *address, size_t bytes)
{
    return os_refusal.is_unmap_refused ? ENOMEM : __real_os_unmap(address, bytes);
}

int __wrap_os_purge(void *address, size_t bytes)
{
    return os_refusal.is_purge_refused ? EAGAIN : __real_os_purge(address, bytes);
}

void *__wrap_os_resize(void *address, size_t old_bytes, size_t bytes)
{
    return os_refusal.is_resize_refused ? NULL : __real_os_resize(address, old_bytes, bytes);
}

void *__wrap_os_detach_pages(void *address, size_t bytes)
{
    return os_refusal.is_move_refused ? NULL : __real_os_detach_pages(address, bytes);
}
