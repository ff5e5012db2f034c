// An ordinary threaded program, for tools_test.sh; with "overflow" it writes behind a block.
// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_COUNT = 1000,
    BYTES = 100
};

static void *work(void *unused)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        char *volatile block = malloc(i + 1);
        block[i] = 1;
        free(block);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) {
        return 1;
    }
    (void)pthread_join(thread, NULL);
    free(strdup("a text"));
    volatile size_t bytes = BYTES;
    char *volatile block = malloc(bytes);
    block[argc > 1 && strcmp(argv[1], "overflow") == 0 ? bytes : 0] = 1;
    free(block);
    (void)puts("sound");
    return 0;
}
