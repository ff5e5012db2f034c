// Where the system promises no more memory than it has (vm.overcommit_memory=2), every writable page
// of a mapping counts, used or not.  So what is mapped writable stays near what is resident, and the
// mappings don't grow in number.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOT_COUNT = 100000,
    ROUND_COUNT = 10,
    DRAWS_EACH = 100000,
    SLACK_BYTES = 24 << 20,
    MAP_SLACK = 100,
    TEXT_BYTES = 8192,
};

static char *blocks[SLOT_COUNT];

// VmData: private writable mappings, which is what strict overcommit charges.
static size_t charged_bytes(void)
{
    char text[TEXT_BYTES] = {0};
    int file = open("/proc/self/status", O_RDONLY);
    ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
    const char *line = length > 0 ? strstr(text, "VmData:") : NULL;
    (void)close(file);
    REQUIRE(line != NULL);
    return (size_t)strtoull(line + strlen("VmData:"), NULL, 10) << 10;
}

static size_t draw_size(struct random_stream *random)
{
    size_t draw = random_below(random, 200);
    if (draw == 0) {
        return random_below(random, 500000) + 1;
    }
    return random_below(random, draw < 20 ? 10000 : 1000) + 1;
}

static void work(struct random_stream *random)
{
    for (size_t i = 0; i < DRAWS_EACH; i++) {
        size_t slot = random_below(random, SLOT_COUNT);
        size_t bytes = draw_size(random);
        free(blocks[slot]);
        blocks[slot] = malloc(bytes);
        REQUIRE(blocks[slot] != NULL);
        memset(blocks[slot], 1, bytes);
    }
}

int main(void)
{
    struct random_stream random = {.state = 5};
    size_t warm_count = 0;
    (void)alarm(100);
    for (int i = 0; i < ROUND_COUNT; i++) {
        work(&random);
        warm_count = i == ROUND_COUNT / 2 ? process_map_count() : warm_count;
        EXPECT_AT_MOST(charged_bytes(), process_rss_bytes() / 2 * 3 + SLACK_BYTES);
    }
    EXPECT_AT_MOST(process_map_count(), warm_count + MAP_SLACK);
    (void)printf("%zu MiB charged, %zu MiB resident\n", charged_bytes() >> 20,
                 process_rss_bytes() >> 20);
    return check_result();
}
