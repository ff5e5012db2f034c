// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 9[06]-byte block"
// The owner and another thread both free a block.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <pthread.h>

static void *free_and_flush(void *block)
{
    misuse_free(block);
    misuse_flush();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *neighbour = misuse_malloc(90);  // keeps the slab in use
    void *block = misuse_malloc(90);
    REQUIRE(pthread_create(&thread, NULL, free_and_flush, block) == 0);
    (void)pthread_join(thread, NULL);
    misuse_free(block);
    misuse_flush();
    return neighbour == NULL;
}
