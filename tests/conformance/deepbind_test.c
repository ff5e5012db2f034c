// Blocks cross the border of a plug-in that is opened with RTLD_DEEPBIND, both ways.
// SPDX-License-Identifier: MIT
//
// Arguments: the plug-in's folder, its file name, and the path of a library whose RUNPATH is that folder.
// With HAKMEM_DEEPBIND=on the flag must stay: the plug-in is then bound to libc, whose blocks the program may
// still free, as they are known for what they are.
#include "deepbind_plugin.h"
#include "test_check.h"

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEEP_FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND,
    BYTES_MOST = 50 << 20,
    THREAD_COUNT = 4,
};

static const struct plugin_calls *calls;

static void load_plugin(const char *folder, const char *name)
{
    char path[PATH_MAX];
    REQUIRE((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path);
    void *plugin = dlopen(path, DEEP_FLAGS);
    if (plugin == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
    }
    REQUIRE(plugin != NULL);
    calls = dlsym(plugin, "plugin_calls");
    REQUIRE(calls != NULL);
}

static const char *library_of(void *(*function)(size_t))
{
    Dl_info info;
    REQUIRE(dladdr(*(void **)&function, &info) != 0);
    return info.dli_fname;
}

// libc's own functions, which the plug-in calls through, allocate by the same heap.
static void the_plugin_allocates_and_the_program_frees(void)
{
    for (size_t bytes = 1; bytes < BYTES_MOST; bytes = bytes * 3 + 5) {
        char *block = calls->malloc(hidden(bytes));
        REQUIRE(block != NULL);
        EXPECT(malloc_usable_size(block) >= bytes);
        block[bytes - 1] = 1;
        block = realloc(hidden_ptr(block), hidden(bytes + bytes / 2));
        REQUIRE(block != NULL && block[bytes - 1] == 1);
        free(hidden_ptr(block));
        free(hidden_ptr(calls->memalign(4096, hidden(bytes))));
        char *text = calls->strdup("a text of the plug-in's");
        REQUIRE(text != NULL && strcmp(text, "a text of the plug-in's") == 0);
        free(hidden_ptr(text));
    }
}

static void the_program_allocates_and_the_plugin_frees(void)
{
    for (size_t bytes = 1; bytes < BYTES_MOST; bytes = bytes * 3 + 5) {
        char *block = malloc(hidden(bytes));
        REQUIRE(block != NULL);
        block[bytes - 1] = 1;
        block = calls->realloc(hidden_ptr(block), hidden(bytes + bytes / 2));
        REQUIRE(block != NULL && block[bytes - 1] == 1);
        calls->free(hidden_ptr(block));
        calls->free(hidden_ptr(strdup("a text of the program's")));
    }
}

static void *cross_the_border(void *is_kept)
{
    the_plugin_allocates_and_the_program_frees();
    if (is_kept == NULL) {
        the_program_allocates_and_the_plugin_frees();
    }
    return NULL;
}

static void threads_cross_the_border(void *is_kept)
{
    pthread_t threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, cross_the_border, is_kept) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

// The loader searches the RUNPATH of the library that called dlopen, which it tells by the return address.
static void the_callers_runpath_counts(const char *name, const char *host_path)
{
    void *(*host_open)(const char *, int) = NULL;
    EXPECT(dlopen(name, DEEP_FLAGS) == NULL);
    EXPECT(dlerror() != NULL);
    void *host = dlopen(host_path, RTLD_NOW);
    REQUIRE(host != NULL);
    *(void **)&host_open = dlsym(host, "host_open");
    REQUIRE(host_open != NULL);
    EXPECT(host_open(name, DEEP_FLAGS) != NULL);
    EXPECT(host_open("a_library_that_is_nowhere.so", DEEP_FLAGS) == NULL);
    EXPECT(dlerror() != NULL);
    EXPECT(dlclose(host) == 0);
}

// What dlopen is told beside the flag reaches the loader.
static void other_flags_are_kept(const char *host_path)
{
    EXPECT(dlopen(host_path, RTLD_NOW | RTLD_NOLOAD) == NULL);
    EXPECT(dlsym(RTLD_DEFAULT, "host_open") == NULL);
    void *host = dlopen(host_path, RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND);
    EXPECT(host != NULL);
    EXPECT(dlsym(RTLD_DEFAULT, "host_open") != NULL);
    EXPECT(dlopen(NULL, RTLD_NOW) != NULL);
}

int main(int argc, char **argv)
{
    (void)alarm(60);
    REQUIRE(argc == 4);
    const char *gate = getenv("HAKMEM_DEEPBIND");
    bool is_kept = gate != NULL && strcmp(gate, "on") == 0;
    void *kept_mark = is_kept ? argv : NULL;
    the_callers_runpath_counts(argv[2], argv[3]);
    other_flags_are_kept(argv[3]);
    load_plugin(argv[1], argv[2]);
    if (is_kept) {
        EXPECT(strstr(library_of(calls->malloc), "/libc.so") != NULL);
    } else {
        EXPECT(strcmp(library_of(calls->malloc), library_of(malloc)) == 0);
    }
    (void)cross_the_border(kept_mark);
    threads_cross_the_border(kept_mark);
    return check_result();
}
