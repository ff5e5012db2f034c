// At the limit the callback frees one block a call.  That memory is given back and used, although it
// is less than may lie unused otherwise.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    LIMIT_BYTES = 64 << 20,
    BLOCK_BYTES = 1 << 20,
    BLOCK_COUNT = 40,
    WANTED_BYTES = 30 << 20,
    MOST_CALLS = 12,  // 6 MiB are missing
};

static struct {
    void *blocks[BLOCK_COUNT];
    size_t count;
    size_t call_count;
} held;

static struct {
    int (*ctl_set)(const char *gate, const char *value);
    size_t (*limit_set)(size_t limit_bytes);
    void (*limit_set_callback)(hak_limit_callback *callback, void *context);
} hak;

static bool free_one(size_t wanted_bytes, void *unused)
{
    (void)wanted_bytes;
    (void)unused;
    held.call_count++;
    if (held.count == 0) {
        return false;
    }
    free(held.blocks[--held.count]);
    return true;
}

int main(void)
{
    (void)alarm(30);
    *(void **)&hak.ctl_set = check_symbol("hak_ctl_set");
    *(void **)&hak.limit_set = check_symbol("hak_limit_set");
    *(void **)&hak.limit_set_callback = check_symbol("hak_limit_set_callback");
    REQUIRE(hak.ctl_set && hak.limit_set && hak.limit_set_callback);
    EXPECT(hak.ctl_set("HAKMEM_DIRTY_LIMIT", "256MiB") == 0);
    (void)hak.limit_set(LIMIT_BYTES);
    hak.limit_set_callback(free_one, NULL);
    for (; held.count < BLOCK_COUNT; held.count++) {
        held.blocks[held.count] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(held.blocks[held.count] != NULL);
    }
    REQUIRE(held.call_count == 0);
    void *block = malloc(hidden(WANTED_BYTES));
    EXPECT(block != NULL);
    EXPECT(held.call_count > 0);
    EXPECT_AT_MOST(held.call_count, MOST_CALLS);
    free(block);
    return check_result();
}
