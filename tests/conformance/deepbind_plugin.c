// A plug-in that allocates, frees and resizes by the malloc that it was bound to; see deepbind_test.c.
// SPDX-License-Identifier: MIT
#include "deepbind_plugin.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

const struct plugin_calls plugin_calls = {
    .malloc = malloc,
    .strdup = strdup,
    .memalign = memalign,
    .realloc = realloc,
    .free = free,
};
