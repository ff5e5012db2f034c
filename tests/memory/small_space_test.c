// A program that holds up to 100 MB in blocks of all sizes, large and aligned ones among them, in 256 MB of
// address space, as on a 32-bit system: its space is not cut up until nothing fits.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    SPACE_BYTES = 256 << 20,
    LIVE_BYTES_MOST = 100 << 20,
    SLOT_COUNT = 20000,
    STEP_COUNT = 400000,
};

static struct {
    char *blocks[SLOT_COUNT];
    size_t bytes[SLOT_COUNT];
    size_t live_bytes;
} held;

static size_t draw_size(struct random_stream *random)
{
    size_t draw = random_below(random, 1000);
    if (draw < 3) {
        return 1 + random_below(random, 8 << 20);
    }
    return 1 + random_below(random, draw < 30 ? 300 << 10 : 4000);
}

static void give(size_t slot)
{
    free(held.blocks[slot]);
    held.blocks[slot] = NULL;
    held.live_bytes -= held.bytes[slot];
    held.bytes[slot] = 0;
}

static void take(size_t slot, struct random_stream *random)
{
    size_t bytes = draw_size(random);
    void *block = NULL;
    if (random_below(random, 100) == 0) {
        size_t align_bytes = (size_t)4096 << random_below(random, 10);  // up to 2 MiB
        REQUIRE(posix_memalign(&block, align_bytes, bytes) == 0);
    } else {
        block = malloc(bytes);
        REQUIRE(block != NULL);
    }
    held.blocks[slot] = block;
    held.blocks[slot][0] = 1;
    held.blocks[slot][bytes - 1] = 1;
    held.bytes[slot] = bytes;
    held.live_bytes += bytes;
}

int main(void)
{
    struct random_stream random = {.state = 21};
    struct rlimit limit = {.rlim_cur = SPACE_BYTES, .rlim_max = SPACE_BYTES};
    (void)alarm(60);
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        size_t slot = random_below(&random, SLOT_COUNT);
        if (held.blocks[slot] != NULL) {
            give(slot);
        }
        for (size_t other = slot; held.live_bytes > LIVE_BYTES_MOST;
             other = (other + 1) % SLOT_COUNT) {
            if (held.blocks[other] != NULL) {
                give(other);
            }
        }
        take(slot, &random);
    }
    return check_result();
}
