// Many threads whose first allocations meet: every block is aligned and no two overlap.  The program
// starts itself anew for every round, so that each is a first use of the process too.  Arguments: the number of
// rounds; or "race", for one round in this process.
// SPDX-License-Identifier: MIT
#include "shadow_model.h"
#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 16,
    ROUND_COUNT = 200,  // when no other number is given
    BLOCK_COUNT = 20,
};

static struct {
    struct shadow_model *model;
    _Atomic size_t waiting_count;
} race;

static void allocate(size_t thread_index)
{
    struct shadow_fault fault;
    struct shadow_block blocks[BLOCK_COUNT];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        void *address = malloc(hidden(24 + i * 8));
        REQUIRE(address != NULL);
        blocks[i] = (struct shadow_block){.address = address,
                                          .bytes = 24 + i * 8,
                                          .usable_bytes = malloc_usable_size(address),
                                          .align_bytes = 16,
                                          .seed = thread_index * BLOCK_COUNT + i};
        (void)check_that(shadow_insert(race.model, &blocks[i], &fault), fault.text, 0,
                         "a sound block");
    }
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        (void)check_that(shadow_erase(race.model, &blocks[i], &fault), fault.text, 0,
                         "whole content");
        free(blocks[i].address);
    }
}

static void *race_to_allocate(void *argument)
{
    (void)atomic_fetch_add_explicit(&race.waiting_count, 1, memory_order_relaxed);
    while (atomic_load_explicit(&race.waiting_count, memory_order_relaxed) < THREAD_COUNT) {
        (void)sched_yield();
    }
    allocate((uintptr_t)argument);
    return NULL;
}

static void run_race(void)
{
    pthread_t threads[THREAD_COUNT];
    race.model = shadow_model_create();
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, race_to_allocate, (void *)i) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    size_t round_count = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUND_COUNT;
    (void)alarm((unsigned)(100 + round_count / 10));
    if (argc > 1 && strcmp(argv[1], "race") == 0) {
        run_race();
        return check_result();
    }
    for (size_t i = 0; i < round_count; i++) {
        char word[] = "race";
        char *const arguments[] = {argv[0], argv[0], word, NULL};
        // An emulator takes the program as its first argument.
        const char *emulator = getenv("HAK_TEST_EMULATOR");
        const char *file = emulator != NULL ? emulator : "/proc/self/exe";
        char *const *own = arguments + (emulator != NULL ? 0 : 1);
        int status = -1;
        pid_t pid = 0;
        REQUIRE(posix_spawnp(&pid, file, NULL, NULL, own, environ) == 0);
        REQUIRE(waitpid(pid, &status, 0) == pid);
        EXPECT(status == 0);
    }
    return check_result();
}
