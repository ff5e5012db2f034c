// Address space that free blocks hold is had again for a longer one, also by a program that has a limit
// of its own which it is far from.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_COUNT_MOST = 200,
    BLOCK_BYTES = 6 << 20,
};

int main(void)
{
    static char *blocks[BLOCK_COUNT_MOST];
    size_t count = 0;
    (void)alarm(30);
    while (count < BLOCK_COUNT_MOST && (blocks[count] = malloc(hidden(BLOCK_BYTES))) != NULL) {
        memset(blocks[count++], 1, BLOCK_BYTES);
    }
    REQUIRE(count < BLOCK_COUNT_MOST);  // the address space is short
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
    EXPECT(malloc(hidden(count * BLOCK_BYTES / 3)) != NULL);
    return check_result();
}
