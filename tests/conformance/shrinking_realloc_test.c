// realloc to a smaller size doesn't fail, however little memory there is.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ROOM_BYTES = 32 << 20,
    EATEN_BYTES = 50000,
    PAIR_COUNT = 5,
};

// From the first to the second.
static const size_t sizes[PAIR_COUNT][2] = {
    {1000000, 1000}, {1000000, 300000}, {200000, 60000}, {3000, 100}, {1000, 20},
};

// What is eaten stays: the test ends with the process.
static void eat(size_t bytes)
{
    while (malloc(hidden(bytes)) != NULL) {
    }
}

static void eat_all_memory(void)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = process_vsz_bytes() + ROOM_BYTES;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    for (size_t bytes = EATEN_BYTES; bytes >= 16; bytes /= 4) {
        eat(bytes);
    }
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        eat(sizes[i][1]);
    }
}

static void shrink(char *block, size_t bytes, size_t less_bytes)
{
    errno = 77;
    char *shrunk = realloc(block, hidden(less_bytes));
    EXPECT(shrunk != NULL);
    EXPECT(errno == 77);
    for (size_t i = 0; shrunk != NULL && i < less_bytes; i++) {
        EXPECT(shrunk[i] == (char)bytes);
    }
}

static char *filled(size_t bytes)
{
    char *block = malloc(hidden(bytes));
    REQUIRE(block != NULL);
    memset(block, (char)bytes, bytes);
    return block;
}

int main(void)
{
    char *blocks[PAIR_COUNT];
    (void)alarm(60);
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        blocks[i] = filled(sizes[i][0]);
    }
    eat_all_memory();
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        shrink(blocks[i], sizes[i][0], sizes[i][1]);
    }
    return check_result();
}
