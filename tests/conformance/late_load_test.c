// The library can be loaded late, into a program that has used up most of its static thread-local
// storage, and its prefixed functions work from every thread.  Arguments: the library, then plug-ins
// to load before it.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 8,
    BLOCK_COUNT = 2000,
    LEAST_PLUGIN_COUNT = 10,
};

static struct {
    void *(*malloc)(size_t bytes);
    void (*free)(void *block);
    size_t (*usable_size)(const void *block);
} late;

static void *use_late_heap(void *unused)
{
    unsigned char *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = late.malloc(i);
        REQUIRE(blocks[i] != NULL && late.usable_size(blocks[i]) >= i);
        memset(blocks[i], 0x11, i);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        late.free(blocks[i]);
    }
    free(malloc(hidden(100)));  // libc's own heap goes on beside it
    return unused;
}

// Its exit hook is the library's, and runs after the library was closed.
static void *use_and_outlive(void *has_used)
{
    (void)use_late_heap(NULL);
    (void)pthread_barrier_wait(has_used);
    (void)pthread_barrier_wait(has_used);
    return NULL;
}

// Loads plug-ins until the loader has no room left for one more.
static void load_plugins(int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        void *(*touch)(size_t) = NULL;
        void *plugin = dlopen(paths[i], RTLD_NOW);
        if (plugin == NULL) {
            EXPECT(i >= LEAST_PLUGIN_COUNT);
            return;
        }
        *(void **)&touch = dlsym(plugin, "plugin_touch");
        free(touch(10));
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    (void)alarm(30);
    REQUIRE(argc >= 2);
    load_plugins(argc - 2, argv + 2);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
    }
    REQUIRE(library != NULL);
    *(void **)&late.malloc = dlsym(library, "hak_malloc");
    *(void **)&late.free = dlsym(library, "hak_free");
    *(void **)&late.usable_size = dlsym(library, "hak_usable_size");
    REQUIRE(late.malloc != NULL && late.free != NULL && late.usable_size != NULL);
    (void)use_late_heap(NULL);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, use_late_heap, NULL) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    // It is linked to stay.
    pthread_t outliving;
    pthread_barrier_t has_used;
    REQUIRE(pthread_barrier_init(&has_used, NULL, 2) == 0);
    REQUIRE(pthread_create(&outliving, NULL, use_and_outlive, &has_used) == 0);
    (void)pthread_barrier_wait(&has_used);
    EXPECT(dlclose(library) == 0);
    (void)pthread_barrier_wait(&has_used);
    (void)pthread_join(outliving, NULL);
    (void)use_late_heap(NULL);
    return check_result();
}
