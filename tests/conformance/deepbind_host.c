// A library that loads a plug-in by its bare name, which only this library's RUNPATH leads to; see
// deepbind_test.c.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>

__attribute__((visibility("default"))) void *host_open(const char *name, int flags);

// The loader must see this function's address as the one to return to, so what it returns is looked at.
void *host_open(const char *name, int flags)
{
    void *volatile handle = dlopen(name, flags);
    return handle;
}
