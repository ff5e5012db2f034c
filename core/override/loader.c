// What the loader is asked: dlopen without RTLD_DEEPBIND, and where glibc's own heap is.  Only libhakmem.so
// has this file: a static program has no loader, and no second heap.
// SPDX-License-Identifier: MIT
//
// A plug-in that binds deep finds libc's malloc before the preloaded one, and its blocks then come from
// another heap than the program's: whichever side frees the other's block frees what it has never
// seen.  Without the flag the plug-in finds what the rest of the process uses.  dlmopen is left alone: a
// namespace has a libc of its own, with or without us.
#include "backend/glibc_heap.h"
#include "base/bits.h"
#include "base/compiler.h"
#include "policy/gates.h"
#include "thread/process.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>

typedef void *dlopen_function(const char *path, int flags);
typedef struct mallinfo2 mallinfo2_function(void);

// next_dlopen is written with the same value by whoever comes first; the rest before glibc_heap_found.
static struct {
    _Atomic(dlopen_function *) next_dlopen;
    mallinfo2_function *glibc_mallinfo2;
    struct glibc_calls glibc;
} loader;

// No lock is held, and the caller is in the loader already or about to be: dlsym may do as it likes.
static dlopen_function *find_next_dlopen(void)
{
    dlopen_function *next = atomic_load_explicit(&loader.next_dlopen, memory_order_relaxed);
    if (unlikely(next == NULL)) {
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
        atomic_store_explicit(&loader.next_dlopen, next, memory_order_relaxed);
    }
    return next;
}

static void read_glibc_figures(struct glibc_figures *figures)
{
    struct mallinfo2 info = loader.glibc_mallinfo2();
    figures->arena_bytes = info.arena;
    figures->mapped_bytes = info.hblkhd;
}

// Notes the image that glibc's free lies in.  Not 0: it was found.
static int note_image(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    uintptr_t start = UINTPTR_MAX;
    uintptr_t end = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t segment_start = object->dlpi_addr + segment->p_vaddr;
            start = min_size(start, segment_start);
            end = max_size(end, segment_start + segment->p_memsz);
        }
    }
    uintptr_t function = (uintptr_t)loader.glibc.free;
    loader.glibc.image_start = start;
    loader.glibc.image_end = end;
    return function >= start && function < end;
}

// Other libcs have no __libc_free beside free: there is nothing then that a pointer could be proved to
// belong to.
static void find_glibc(void)
{
    *(void **)&loader.glibc.free = dlsym(RTLD_NEXT, "__libc_free");
    *(void **)&loader.glibc_mallinfo2 = dlsym(RTLD_NEXT, "mallinfo2");
    loader.glibc.read_figures = read_glibc_figures;
    if (loader.glibc.free != NULL && loader.glibc_mallinfo2 != NULL &&
        dl_iterate_phdr(note_image, NULL) != 0) {
        glibc_heap_found(&loader.glibc);
    }
}

// At load: free can't ask the loader, which may be waiting for the thread that frees.
__attribute__((constructor)) static void ask_at_load(void)
{
    (void)find_next_dlopen();
    find_glibc();
}

// The last call must be a jump (see core/CMakeLists.txt): the loader takes the RUNPATH and the namespace
// of whoever called it, which it tells by the return address.
HAK_EXPORT void *dlopen(const char *path, int flags)
{
    dlopen_function *next = find_next_dlopen();
    (void)process_start();  // reads the gates, where nothing was allocated yet
    HAK_TAIL_CALL return next(path, gates.deepbind ? flags : flags & ~RTLD_DEEPBIND);
}
