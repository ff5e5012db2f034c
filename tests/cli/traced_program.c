// Allocates a known number of blocks in known threads, for tests of `hakmem record`.
// SPDX-License-Identifier: MIT
//
// usage: traced_program exit|_exit|kill|fork
// Four workers of 1000 blocks each of 777 bytes; a fifth frees them all, and every tenth is made 7777
// bytes long first.  The main thread leaves ten aligned blocks of 77 bytes.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORKERS = 4,
    BLOCKS = 1000,
    ALIGNED = 10,
};

static void *blocks[WORKERS][BLOCKS];
static void *aligned[ALIGNED];

static void *allocate(void *argument)
{
    void **own = argument;
    for (size_t i = 0; i < BLOCKS; i++) {
        own[i] = malloc(777);
    }
    return NULL;
}

static void *release(void *argument)
{
    for (size_t i = 0; i < (size_t)WORKERS * BLOCKS; i++) {
        void *block = blocks[i / BLOCKS][i % BLOCKS];
        free(i % 10 == 0 ? realloc(block, 7777) : block);
    }
    return argument;
}

static void run(void *(*work)(void *), size_t count)
{
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, blocks[i]) != 0) {
            abort();
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void allocate_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < 10000; i++) {
            free(malloc(7));
        }
        exit(EXIT_SUCCESS);
    }
    (void)waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "exit";
    if (strcmp(way, "fork") == 0) {
        allocate_in_child();
    }
    run(allocate, WORKERS);
    run(release, 1);
    for (size_t i = 0; i < ALIGNED; i++) {
        aligned[i] = memalign(256, 77);
    }
    if (strcmp(way, "_exit") == 0) {
        _exit(EXIT_SUCCESS);
    }
    if (strcmp(way, "kill") == 0) {
        (void)raise(SIGKILL);
    }
    return EXIT_SUCCESS;
}
