// A heap limit with a callback: a cache gives memory up when the heap is full, so that work goes on.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    ENTRY_BYTES = 1 << 20,
    ENTRY_COUNT = 64,
    LIMIT_BYTES = 32 << 20,
};

struct cache {
    void *entries[ENTRY_COUNT];
    size_t dropped_count;
};

// Drops the oldest entry.  Runs on the allocating thread, outside all locks.
static bool drop_oldest(size_t wanted_bytes, void *context)
{
    struct cache *cache = context;
    (void)wanted_bytes;
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (cache->entries[i] != NULL) {
            hak_free(cache->entries[i]);
            cache->entries[i] = NULL;
            cache->dropped_count++;
            return true;  // try again
        }
    }
    return false;  // nothing left to give: let the allocation fail
}

int main(void)
{
    static struct cache cache;
    (void)hak_limit_set(LIMIT_BYTES);
    hak_limit_set_callback(drop_oldest, &cache);

    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        cache.entries[i] = hak_malloc(ENTRY_BYTES);
        if (cache.entries[i] == NULL) {
            (void)fprintf(stderr, "entry %zu: no memory, though the cache could give some\n", i);
            return 1;
        }
        memset(cache.entries[i], (int)i, ENTRY_BYTES);
    }
    printf("%d entries of 1 MiB within 32 MiB: %zu were dropped on the way\n", ENTRY_COUNT,
           cache.dropped_count);

    // More than the limit can ever hold: the callback runs out of entries and malloc fails softly.
    errno = 0;
    void *block = hak_malloc((size_t)2 * LIMIT_BYTES);
    printf("64 MiB within 32 MiB: %s\n",
           (block == NULL && errno == ENOMEM) ? "ENOMEM" : "granted?");
    return (block == NULL && errno == ENOMEM && cache.dropped_count >= ENTRY_COUNT / 2) ? 0 : 1;
}
