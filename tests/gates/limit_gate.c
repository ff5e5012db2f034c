// With HAKMEM_LIMIT=64MiB the heap stops there: malloc returns NULL with ENOMEM, what was allocated
// stays whole, and freeing makes room again.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <hakmem.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT_MIB = 64,
    BLOCK_MOST = 4096
};

static unsigned char *blocks[BLOCK_MOST];

// Takes blocks until malloc refuses; each is filled with its own number.
static size_t fill(size_t bytes)
{
    size_t count = 0;
    while (count < BLOCK_MOST) {
        errno = 0;
        blocks[count] = malloc(bytes);
        if (blocks[count] == NULL) {
            EXPECT(errno == ENOMEM);
            return count;
        }
        memset(blocks[count], (int)(count % 251), bytes);
        count++;
    }
    return count;
}

static void empty(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        EXPECT(blocks[i][0] == i % 251 && blocks[i][bytes - 1] == i % 251);
        free(blocks[i]);
    }
}

static void the_heap_stops_at_the_limit(size_t bytes)
{
    size_t first_count = fill(bytes);
    size_t held_bytes = first_count * bytes;
    EXPECT(held_bytes <= (size_t)LIMIT_MIB << 20);
    EXPECT(held_bytes >= (size_t)LIMIT_MIB << 19);
    empty(first_count, bytes);
    size_t second_count = fill(bytes);
    EXPECT(second_count * 10 >= first_count * 9);
    empty(second_count, bytes);
}

int main(void)
{
    EXPECT(hak_limit_get() == (size_t)LIMIT_MIB << 20);
    the_heap_stops_at_the_limit((size_t)1 << 20);
    the_heap_stops_at_the_limit(64 << 10);
    the_heap_stops_at_the_limit(20000);
    errno = 0;
    EXPECT(malloc((size_t)LIMIT_MIB << 20) == NULL);
    EXPECT(errno == ENOMEM);
    return check_result();
}
