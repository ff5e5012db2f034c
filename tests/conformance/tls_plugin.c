// A plug-in with thread-local storage: PLUGIN_TLS_BYTES of it, by the model that the build chooses.
// SPDX-License-Identifier: MIT
#include <stdlib.h>

static _Thread_local volatile char storage[PLUGIN_TLS_BYTES];

__attribute__((visibility("default"))) void *plugin_touch(size_t bytes);

void *plugin_touch(size_t bytes)
{
    storage[0]++;
    storage[PLUGIN_TLS_BYTES - 1]++;
    return malloc(bytes);
}
