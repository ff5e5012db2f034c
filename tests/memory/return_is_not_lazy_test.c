// Memory that goes back to the system is gone at once: it is not marked as free and left to count as
// resident until the system wants it.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 3000,
    SMALL_BYTES = 30000,
    LARGE_BYTES = 300000,
    LARGE_EVERY = 10,
    LEFT_BYTES = 4 << 20,
    TEXT_BYTES = 4096,
};

static char *blocks[BLOCK_COUNT];

static size_t size_of(size_t index)
{
    return index % LARGE_EVERY == 0 ? LARGE_BYTES : SMALL_BYTES;
}

static size_t lazily_freed_bytes(void)
{
    char text[TEXT_BYTES] = {0};
    int file = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
    const char *line = length > 0 ? strstr(text, "LazyFree:") : NULL;
    (void)close(file);
    return line != NULL ? (size_t)strtoull(line + strlen("LazyFree:"), NULL, 10) << 10 : 0;
}

int main(void)
{
    (void)alarm(30);
    size_t before_bytes = process_rss_bytes();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(size_of(i)));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, size_of(i));
    }
    EXPECT(process_rss_bytes() >= before_bytes + (size_t)BLOCK_COUNT * SMALL_BYTES);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    EXPECT(lazily_freed_bytes() == 0);
    (void)malloc_trim(0);
    EXPECT_AT_MOST(process_rss_bytes(), before_bytes + LEFT_BYTES);
    EXPECT(lazily_freed_bytes() == 0);
    return check_result();
}
