// expect: abort "hakmem: double free of 0x[0-9a-f]+, a 4[08]-byte block"
// Two threads that own nothing free the same block of a third, and end.
// SPDX-License-Identifier: MIT
#include "misuse.h"

#include <pthread.h>

static void *free_it(void *block)
{
    misuse_free(block);
    return NULL;
}

int main(void)
{
    void *neighbour = misuse_malloc(40);  // keeps the slab in use
    void *block = misuse_malloc(40);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, free_it, block) == 0);
        (void)pthread_join(thread, NULL);
    }
    misuse_flush();
    return neighbour == NULL;
}
