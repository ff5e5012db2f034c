// Allocates until HAKMEM_DIRTY_LIMIT is 3MiB, for a minute at most.  With "fork" a child does so that was
// forked after the start; with "idle" nothing is allocated.
// SPDX-License-Identifier: MIT
#include "hakmem.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 6000,
    BLOCK_COUNT = 2000,
    ROUND_NS = 10 * 1000 * 1000,
};

static bool is_set(void)
{
    char value[32];
    return hak_ctl_get("HAKMEM_DIRTY_LIMIT", value, sizeof value) == 0 &&
           strcmp(value, "3MiB") == 0;
}

static void allocate(void)
{
    static void *blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = hak_malloc(16 + i % 500);
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        hak_free(blocks[i]);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    hak_free(hak_malloc(1));
    if (strcmp(way, "fork") == 0 && fork() != 0) {
        return wait(NULL) > 0 ? 0 : 1;
    }
    (void)printf("%ld\n", (long)getpid());
    (void)fflush(stdout);
    for (int round = 0; round < ROUND_COUNT && !is_set(); round++) {
        if (strcmp(way, "idle") != 0) {
            allocate();
        }
        (void)nanosleep(&pause, NULL);
    }
    return is_set() ? 0 : 1;
}
