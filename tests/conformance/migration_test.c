// Threads that are moved from processor to processor all the time, and interrupted by signals: no block is
// handed out twice.  Run with and without libc's restartable sequences.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 64,
    SLOT_COUNT = 64,
    SHARED_COUNT = 4096,
    HOP_MICROSECONDS = 100,
    RUN_MS = 3000,
    SIGNAL_EACH = 16,  // hops
};

// A block says whose it is and how long, from its first byte to its last.
struct labelled {
    size_t bytes;
    unsigned char label;
};

static struct {
    _Atomic bool stop;
    _Atomic size_t signal_count;
    pthread_t threads[THREAD_COUNT];
    _Atomic(struct labelled *) shared[SHARED_COUNT];  // on their way to whoever takes them
} run;

static void note_signal(int number)
{
    (void)number;
    (void)atomic_fetch_add_explicit(&run.signal_count, 1, memory_order_relaxed);
}

static struct labelled *take(struct random_stream *random, unsigned char label)
{
    size_t bytes = sizeof(struct labelled) + random_below(random, 500);
    struct labelled *block = malloc(bytes);
    REQUIRE(block != NULL);
    memset(block, label, bytes);
    block->bytes = bytes;
    block->label = label;
    return block;
}

static void give(struct labelled *block)
{
    const unsigned char *content = (const unsigned char *)block;
    for (size_t i = sizeof *block; i < block->bytes; i++) {
        REQUIRE(content[i] == block->label);
    }
    free(block);
}

static void *work(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    unsigned char label = (unsigned char)(uintptr_t)argument;
    struct labelled *slots[SLOT_COUNT] = {NULL};
    while (!atomic_load_explicit(&run.stop, memory_order_relaxed)) {
        struct labelled **slot = &slots[random_below(&random, SLOT_COUNT)];
        if (*slot == NULL) {
            *slot = take(&random, label);
        } else if (random_below(&random, 4) == 0) {
            // Another thread's for it, or none.  Acquire and release: the content goes with it.
            *slot = atomic_exchange_explicit(&run.shared[random_below(&random, SHARED_COUNT)],
                                             *slot, memory_order_acq_rel);
        } else {
            give(*slot);
            *slot = NULL;
        }
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        if (slots[i] != NULL) {
            give(slots[i]);
        }
    }
    return NULL;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void hop(const cpu_set_t *allowed)
{
    struct timespec pause = {.tv_nsec = HOP_MICROSECONDS * 1000};
    uint64_t end_ms = now_ms() + RUN_MS;
    int processor = 0;
    for (size_t i = 0; now_ms() < end_ms; i++) {
        cpu_set_t one;
        do {
            processor = (processor + 1) % CPU_SETSIZE;
        } while (!CPU_ISSET(processor, allowed));
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        (void)pthread_setaffinity_np(run.threads[i % THREAD_COUNT], sizeof one, &one);
        if (i % SIGNAL_EACH == 0) {
            (void)pthread_kill(run.threads[i / SIGNAL_EACH % THREAD_COUNT], SIGUSR1);
        }
        (void)nanosleep(&pause, NULL);
    }
}

int main(void)
{
    cpu_set_t allowed;
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    (void)alarm(60);
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&run.threads[i], NULL, work, (void *)(i + 1)) == 0);
    }
    hop(&allowed);
    atomic_store_explicit(&run.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(run.threads[i], NULL);
    }
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        struct labelled *block = atomic_load_explicit(&run.shared[i], memory_order_relaxed);
        if (block != NULL) {
            give(block);
        }
    }
    EXPECT(atomic_load_explicit(&run.signal_count, memory_order_relaxed) > 0);
    return check_result();
}
