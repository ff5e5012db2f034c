// Many live large blocks, and large blocks of ever other sizes taken and freed beside them: the address
// space of the freed ones goes back, at the latest on malloc_trim.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    KEPT_COUNT = 500,
    KEPT_BYTES = 300 << 10,
    ROUND_COUNT = 1000,
    FIRST_BYTES = 1 << 20,
    LAST_BYTES = 64 << 20,
    SLACK_BYTES = 96 << 20,
};

static void *kept[KEPT_COUNT];

static void take_and_free(size_t bytes)
{
    void *first = malloc(hidden(bytes));
    void *second = malloc(hidden(3 << 20));
    void *third = malloc(hidden(5 << 20));
    REQUIRE(first != NULL && second != NULL && third != NULL);
    free(first);
    free(second);
    free(third);
}

static size_t next_size(size_t bytes)
{
    size_t step_bytes = bytes / 8 < FIRST_BYTES ? bytes / 8 : FIRST_BYTES;
    return bytes + step_bytes > LAST_BYTES ? FIRST_BYTES : bytes + step_bytes;
}

int main(void)
{
    size_t bytes = FIRST_BYTES;
    (void)alarm(30);
    size_t before_bytes = process_vsz_bytes();
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        kept[i] = malloc(hidden(KEPT_BYTES));
        REQUIRE(kept[i] != NULL);
    }
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        take_and_free(bytes);
        bytes = next_size(bytes);
    }
    (void)malloc_trim(0);
    EXPECT_AT_MOST(process_vsz_bytes(), before_bytes + KEPT_COUNT * KEPT_BYTES + SLACK_BYTES);
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        free(kept[i]);
    }
    (void)malloc_trim(0);
    EXPECT_AT_MOST(process_vsz_bytes(), before_bytes + SLACK_BYTES);
    return check_result();
}
