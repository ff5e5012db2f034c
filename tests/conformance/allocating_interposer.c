// A preloaded library that stands in for every function that an allocator might call in libc, and allocates in
// each: as tracers and profilers do.  memcpy and its like are left out: nobody can allocate in those.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define INTERPOSED __attribute__((visibility("default")))

enum {
    SMALL_BYTES = 40,
    MEDIUM_BYTES = 70000
};

static _Thread_local volatile bool is_inside __attribute__((tls_model("initial-exec")));

// An allocator that calls back while it holds a lock, or half-way through a change of its own, meets itself
// here.
static void allocate(void)
{
    if (!is_inside) {
        is_inside = true;
        void *volatile small = malloc(SMALL_BYTES);
        void *volatile medium = malloc(MEDIUM_BYTES);
        free(small);
        free(medium);
        is_inside = false;
    }
}

// The next definition behind this library's.
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(name) ((__typeof__(&(name)))next(#name))

INTERPOSED int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    allocate();
    return NEXT(pthread_key_create)(key, destructor);
}

INTERPOSED int pthread_key_delete(pthread_key_t key)
{
    allocate();
    return NEXT(pthread_key_delete)(key);
}

INTERPOSED int pthread_setspecific(pthread_key_t key, const void *value)
{
    allocate();
    return NEXT(pthread_setspecific)(key, value);
}

INTERPOSED void *pthread_getspecific(pthread_key_t key)
{
    allocate();
    return NEXT(pthread_getspecific)(key);
}

INTERPOSED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    allocate();
    return NEXT(pthread_mutex_lock)(mutex);
}

INTERPOSED int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                                 void *object);

INTERPOSED int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                                 void *object)
{
    allocate();
    return NEXT(__register_atfork)(prepare, parent, child, object);
}

INTERPOSED int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
    allocate();
    return NEXT(dl_iterate_phdr)(visit, context);
}

INTERPOSED void *dlopen(const char *path, int flags)
{
    allocate();
    return NEXT(dlopen)(path, flags);
}

INTERPOSED char *getenv(const char *name)
{
    allocate();
    return NEXT(getenv)(name);
}

INTERPOSED int sched_getcpu(void)
{
    allocate();
    return NEXT(sched_getcpu)();
}

INTERPOSED long sysconf(int name)
{
    allocate();
    return NEXT(sysconf)(name);
}

INTERPOSED unsigned long getauxval(unsigned long type)
{
    allocate();
    return NEXT(getauxval)(type);
}

INTERPOSED void *mmap(void *address, size_t bytes, int protection, int flags, int file,
                      off_t offset)
{
    allocate();
    return NEXT(mmap)(address, bytes, protection, flags, file, offset);
}

INTERPOSED int munmap(void *address, size_t bytes)
{
    allocate();
    return NEXT(munmap)(address, bytes);
}

INTERPOSED int madvise(void *address, size_t bytes, int advice)
{
    allocate();
    return NEXT(madvise)(address, bytes, advice);
}

INTERPOSED ssize_t write(int file, const void *text, size_t bytes)
{
    allocate();
    return NEXT(write)(file, text, bytes);
}
