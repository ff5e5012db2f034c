// What deepbind_plugin.c exports as "plugin_calls".
// SPDX-License-Identifier: MIT
#ifndef TESTS_DEEPBIND_PLUGIN_H
#define TESTS_DEEPBIND_PLUGIN_H

#include <stddef.h>

struct plugin_calls {
    void *(*malloc)(size_t bytes);
    char *(*strdup)(const char *text);
    void *(*memalign)(size_t alignment, size_t bytes);
    void *(*realloc)(void *block, size_t bytes);
    void (*free)(void *block);
};

extern const struct plugin_calls plugin_calls __attribute__((visibility("default")));

#endif
