// A plug-in with the allocator in it is used by threads, closed, and opened again: threads that used it may end
// after that, and the process may fork.  The argument is the plug-in.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 8,
    ROUND_COUNT = 5,
    BLOCK_COUNT = 2000,  // of the plug-in
};

static struct {
    size_t (*use)(void);
    pthread_barrier_t has_used;
    pthread_barrier_t is_closed;
} stage;

static void *open_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
    }
    REQUIRE(plugin != NULL);
    *(void **)&stage.use = dlsym(plugin, "plugin_use");
    REQUIRE(stage.use != NULL);
    return plugin;
}

static void *use_and_outlive(void *unused)
{
    EXPECT(stage.use() == BLOCK_COUNT);
    (void)pthread_barrier_wait(&stage.has_used);
    (void)pthread_barrier_wait(&stage.is_closed);
    free(malloc(hidden(100)));
    return unused;
}

static void allocate(void)
{
    free(malloc(hidden(5000)));
}

int main(int argc, char **argv)
{
    (void)alarm(30);
    REQUIRE(argc == 2);
    REQUIRE(pthread_barrier_init(&stage.has_used, NULL, THREAD_COUNT + 1) == 0);
    REQUIRE(pthread_barrier_init(&stage.is_closed, NULL, THREAD_COUNT + 1) == 0);
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        pthread_t threads[THREAD_COUNT];
        void *plugin = open_plugin(argv[1]);
        for (size_t i = 0; i < THREAD_COUNT; i++) {
            REQUIRE(pthread_create(&threads[i], NULL, use_and_outlive, NULL) == 0);
        }
        (void)pthread_barrier_wait(&stage.has_used);
        EXPECT(dlclose(plugin) == 0);
        check_in_child("a child", allocate, 10);
        (void)pthread_barrier_wait(&stage.is_closed);
        for (size_t i = 0; i < THREAD_COUNT; i++) {
            (void)pthread_join(threads[i], NULL);
        }
    }
    return check_result();
}
