// A program that uses 20 MB runs in 64 MB of address space: `ulimit -v 65536` is set by the caller.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 64 << 20,
    USED_BYTES = 20 << 20,
    SLOT_COUNT = 20000,
    ROUND_COUNT = 5,
};

static unsigned char *blocks[SLOT_COUNT];

static size_t draw_size(struct random_stream *random)
{
    return random_below(random, 100) == 0 ? random_below(random, 100000)
                                          : random_below(random, 600);
}

static void use_it_all(struct random_stream *random)
{
    size_t used_bytes = 0;
    size_t count = 0;
    while (used_bytes < USED_BYTES && count < SLOT_COUNT) {
        size_t bytes = draw_size(random) + 1;
        blocks[count] = malloc(bytes);
        REQUIRE(blocks[count] != NULL);
        memset(blocks[count], 1, bytes);
        used_bytes += bytes;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
    unsigned char *large = malloc(hidden(USED_BYTES));
    REQUIRE(large != NULL);
    memset(large, 1, USED_BYTES);
    free(large);
}

int main(void)
{
    struct random_stream random = {.state = 3};
    struct rlimit limit;
    (void)alarm(20);
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == LIMIT_BYTES);
    for (int i = 0; i < ROUND_COUNT; i++) {
        use_it_all(&random);
    }
    return check_result();
}
