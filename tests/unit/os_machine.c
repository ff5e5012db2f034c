// SPDX-License-Identifier: MIT
#include "os_machine.h"

#include "base/bits.h"
#include "os/os_memory.h"
#include "region/page_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__real_os_map(size_t bytes, size_t align_bytes);
void *__real_os_reserve(size_t bytes, size_t align_bytes);

// Set before main; `next_end` is guarded by the lock.
static struct {
    size_t page_bytes;
    uintptr_t top;  // 0: addresses are the kernel's choice
    uintptr_t next_end;
    pthread_mutex_t lock;
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t setting(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

// The page map never joins spans over the border of a zone, and where in a zone the kernel begins is chance.
// So that the same calls always do the same, it begins at the end of one.
static void begin_at_a_border(void)
{
    uintptr_t zone_bytes = (uintptr_t)1 << ZONE_SHIFT;
    void *probe =
        mmap(NULL, zone_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) {
        return;  // there is too little address space to choose
    }
    uintptr_t end = (uintptr_t)probe + zone_bytes;
    // What lies behind the border stays taken.
    (void)munmap(probe, zone_bytes - end % zone_bytes);
}

__attribute__((constructor)) static void read_settings(void)
{
    size_t top_bits = setting("HAK_TEST_TOP_BITS");
    size_t page_bytes = setting("HAK_TEST_PAGE_BYTES");
    machine.page_bytes = page_bytes != 0 ? page_bytes : (size_t)sysconf(_SC_PAGESIZE);
    machine.top = top_bits != 0 ? (uintptr_t)1 << top_bits : 0;
    machine.next_end = machine.top;
    if (machine.top == 0) {
        begin_at_a_border();
    }
}

size_t machine_page_bytes(void)
{
    return machine.page_bytes;
}

// What is taken at the address is left alone.
static void *map_at(uintptr_t address, size_t bytes, int access)
{
    void *mapped = mmap((void *)address, bytes, access,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

// Goes down from the top; from the bottom up there is nothing, so it starts again there, as parts of what
// was passed by are free meanwhile.
static void *map_below_top(size_t bytes, size_t align_bytes, int access)
{
    enum {
        PASSES_MOST = 2,
        STEP_BYTES = 1 << 20
    };
    void *mapped = NULL;
    uintptr_t bottom = machine.top / 2;
    if (bytes > machine.top / 8) {
        return NULL;
    }
    (void)pthread_mutex_lock(&machine.lock);
    for (int pass = 0; mapped == NULL && pass < PASSES_MOST;) {
        uintptr_t address = align_down(machine.next_end - bytes, align_bytes);
        if (address < bottom || address >= machine.next_end) {
            machine.next_end = machine.top;
            pass++;
            continue;
        }
        mapped = map_at(address, bytes, access);
        machine.next_end = mapped != NULL ? address : machine.next_end - STEP_BYTES;
    }
    (void)pthread_mutex_unlock(&machine.lock);
    return mapped;
}

void *machine_map(size_t bytes, size_t align_bytes)
{
    return machine.top != 0 ? map_below_top(bytes, align_bytes, PROT_READ | PROT_WRITE)
                            : __real_os_map(bytes, align_bytes);
}

void *machine_reserve(size_t bytes, size_t align_bytes)
{
    return machine.top != 0 ? map_below_top(bytes, align_bytes, PROT_NONE)
                            : __real_os_reserve(bytes, align_bytes);
}

void *machine_place(void *address, size_t bytes)
{
    bool is_right = (uintptr_t)address % machine.page_bytes == 0 && machine.top == 0;
    if (address == NULL || is_right) {
        return address;
    }
    void *target = machine_map(bytes, machine.page_bytes);
    void *moved = target == NULL
                      ? MAP_FAILED
                      : mremap(address, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (moved == MAP_FAILED) {
        (void)fprintf(stderr, "the mapping cannot be moved to its place\n");
        abort();
    }
    return moved;
}

void machine_check(const char *call, const void *address, size_t bytes)
{
    if (((uintptr_t)address | bytes) % machine.page_bytes != 0) {
        (void)fprintf(stderr, "%s of %zu bytes at %p: not whole pages of %zu bytes\n", call, bytes,
                      address, machine.page_bytes);
        abort();
    }
}
