// expect: abort "hakmem: double free of 0x[0-9a-f]+, a (30|32)-byte block"
// realloc moved the block, and the old address is freed.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *block = misuse_malloc(30);
    void *moved = realloc(hidden_ptr(block), hidden(5000));
    REQUIRE(moved != NULL && moved != block);
    misuse_free(block);
    misuse_flush();
    return 0;
}
