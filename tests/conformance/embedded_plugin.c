// A plug-in that has the whole allocator in it, from the archive; see embedded_plugin_test.c.
// SPDX-License-Identifier: MIT
#include "hakmem.h"

#include <stddef.h>
#include <string.h>

enum {
    BLOCK_COUNT = 2000
};

__attribute__((visibility("default"))) size_t plugin_use(void);

// Returns how many blocks were as they should be.
size_t plugin_use(void)
{
    unsigned char *blocks[BLOCK_COUNT];
    size_t sound_count = 0;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(i);
        if (blocks[i] != NULL) {
            memset(blocks[i], (int)i, i);
        }
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        sound_count += blocks[i] != NULL && hak_owns(blocks[i]) &&
                       (i == 0 || blocks[i][i - 1] == (unsigned char)i);
        hak_free(blocks[i]);
    }
    return sound_count;
}
