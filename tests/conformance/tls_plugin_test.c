// Threads load, use and unload a plug-in with much dynamic thread-local storage, whose first touch in
// a thread allocates inside the loader.  The argument is the plug-in.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 50,
    ROUND_COUNT = 20,
    TOGETHER_COUNT = 5
};

static void *use_plugin(void *path)
{
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        void *(*touch)(size_t) = NULL;
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(handle != NULL);
        *(void **)&touch = dlsym(handle, "plugin_touch");
        REQUIRE(touch != NULL);
        void *block = touch(100 + i);
        EXPECT(block != NULL);
        free(block);
        free(malloc(hidden(3000)));
        (void)dlclose(handle);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    (void)alarm(60);
    REQUIRE(argc == 2);
    for (size_t done = 0; done < THREAD_COUNT; done += TOGETHER_COUNT) {
        pthread_t threads[TOGETHER_COUNT];
        for (size_t i = 0; i < TOGETHER_COUNT; i++) {
            REQUIRE(pthread_create(&threads[i], NULL, use_plugin, argv[1]) == 0);
        }
        for (size_t i = 0; i < TOGETHER_COUNT; i++) {
            (void)pthread_join(threads[i], NULL);
        }
    }
    return check_result();
}
