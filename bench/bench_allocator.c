// SPDX-License-Identifier: MIT
#include "bench_allocator.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_support.h"

typedef bool owns_function(const void *address);
typedef const char *text_function(void);
typedef int number_function(void);
typedef int mallctl_function(const char *name, void *old, size_t *old_bytes, void *value,
                             size_t value_bytes);
typedef const char *tc_version_function(int *major, int *minor, const char **patch);

static bool owns_fresh_block(const char *owns_name)
{
    owns_function *owns = (owns_function *)dlsym(RTLD_DEFAULT, owns_name);
    void *block = bench_take(100);
    bool is_owner = owns != NULL && owns(block);
    free(block);
    return is_owner;
}

static bool hakmem_proves(void *mark, char *version)
{
    text_function *hak_version = (text_function *)mark;
    bench_format(version, BENCH_NAME_BYTES, "%s", hak_version());
    return owns_fresh_block("hak_owns");
}

static bool mimalloc_proves(void *mark, char *version)
{
    number_function *mi_version = (number_function *)mark;
    bench_format(version, BENCH_NAME_BYTES, "%d", mi_version());
    return owns_fresh_block("mi_is_in_heap_region");
}

static bool jemalloc_proves(void *mark, char *version)
{
    mallctl_function *mallctl = (mallctl_function *)mark;
    const char *text = "";
    size_t text_bytes = sizeof(text);
    if (mallctl("version", (void *)&text, &text_bytes, NULL, 0) != 0) {
        return false;
    }
    bench_format(version, BENCH_NAME_BYTES, "%.*s", (int)strcspn(text, "-"), text);
    return true;
}

static bool tcmalloc_proves(void *mark, char *version)
{
    tc_version_function *tc_version = (tc_version_function *)mark;
    int major = 0;
    int minor = 0;
    const char *patch = "";
    tc_version(&major, &minor, &patch);
    bench_format(version, BENCH_NAME_BYTES, "%d.%d", major, minor);
    return true;
}

static bool glibc_proves(void *mark, char *version)
{
    text_function *libc_version = (text_function *)mark;
    bench_format(version, BENCH_NAME_BYTES, "%s", libc_version());
    return true;
}

// The file that holds `address`, or "" when it is unknown.
static const char *object_of(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return "";
    }
    return info.dli_fname;
}

void bench_allocator_read(struct bench_allocator *allocator)
{
    static const struct {
        const char *name;
        const char *mark;  // a function that only this allocator has
        bool (*proves)(void *mark, char *version);
    } known[] = {
        {"hakmem", "hak_version", hakmem_proves},
        {"mimalloc", "mi_version", mimalloc_proves},
        {"jemalloc", "mallctl", jemalloc_proves},
        {"tcmalloc", "tc_version", tcmalloc_proves},
        {"glibc", "gnu_get_libc_version", glibc_proves},
    };
    const char *object = object_of(dlsym(RTLD_DEFAULT, "malloc"));
    bench_format(allocator->object, sizeof(allocator->object), "%s", object);
    for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++) {
        void *mark = dlsym(RTLD_DEFAULT, known[index].mark);
        allocator->version[0] = '\0';
        if (mark != NULL && strcmp(object_of(mark), object) == 0 &&
            known[index].proves(mark, allocator->version)) {
            bench_format(allocator->name, sizeof(allocator->name), "%s", known[index].name);
            return;
        }
    }
    allocator->version[0] = '\0';
    const char *slash = strrchr(object, '/');
    bench_format(allocator->name, sizeof(allocator->name), "%s",
                 slash != NULL ? slash + 1 : object);
}
