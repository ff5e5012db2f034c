// dlopen without RTLD_DEEPBIND.  Only libhakmem.so has this file: a static archive in front of a program's
// own dlopen would need the loader, which a static program has not.
// SPDX-License-Identifier: MIT
//
// A plug-in that binds deep finds libc's malloc before the preloaded one, and its blocks then come from
// another heap than the program's: whichever side frees the other's block frees what it has never
// seen.  Without the flag the plug-in finds what the rest of the process uses.  dlmopen is left alone: a
// namespace has a libc of its own, with or without us.
#include "base/compiler.h"
#include "policy/gates.h"
#include "thread/process.h"

#include <dlfcn.h>
#include <stdatomic.h>

typedef void *dlopen_function(const char *path, int flags);

// Written with the same value by whoever comes first.
static _Atomic(dlopen_function *) next_dlopen;

// No lock is held, and the caller is in the loader already or about to be: dlsym may do as it likes.
static dlopen_function *find_next_dlopen(void)
{
    dlopen_function *next = atomic_load_explicit(&next_dlopen, memory_order_relaxed);
    if (unlikely(next == NULL)) {
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
        atomic_store_explicit(&next_dlopen, next, memory_order_relaxed);
    }
    return next;
}

// At load, while other libraries' constructors can't have called dlopen from inside a dlsym of theirs.
__attribute__((constructor)) static void find_at_load(void)
{
    (void)find_next_dlopen();
}

// The last call must be a jump (see core/CMakeLists.txt): the loader takes the RUNPATH and the namespace
// of whoever called it, which it tells by the return address.
HAK_EXPORT void *dlopen(const char *path, int flags)
{
    dlopen_function *next = find_next_dlopen();
    (void)process_start();  // reads the gates, where nothing was allocated yet
    return next(path, gates.deepbind ? flags : flags & ~RTLD_DEEPBIND);
}
