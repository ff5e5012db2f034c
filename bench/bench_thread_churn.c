// Many short threads, each of which allocates a few blocks, frees them and ends.
// SPDX-License-Identifier: MIT
//
// --destructor allocates and frees once more from a key's destructor, which runs when the thread's
// heap may already have been taken down.  --leave leaves half of the blocks to the main thread.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    THREADS,
    BLOCKS,
    AT_ONCE,
    SEED,
    DESTRUCTOR,
    LEAVE,
    ARGUMENT_COUNT
};
enum {
    MAX_BLOCKS = 4096
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [THREADS] = {.name = "threads",
                 .help = "threads in all",
                 .value = 20000,
                 .minimum = 1,
                 .maximum = 1 << 24},
    [BLOCKS] = {.name = "blocks",
                .help = "blocks of each thread, 16 to 1039 bytes",
                .value = 8,
                .minimum = 1,
                .maximum = MAX_BLOCKS},
    [AT_ONCE] = {.name = "at_once",
                 .help = "threads alive together",
                 .value = 1,
                 .minimum = 1,
                 .maximum = 1024},
    [SEED] = BENCH_SEED_ROW(1),
    [DESTRUCTOR] = {.name = "--destructor",
                    .help = "allocate and free again from a key destructor",
                    .kind = BENCH_FLAG},
    [LEAVE] = {.name = "--leave",
               .help = "the main thread frees half of the blocks",
               .kind = BENCH_FLAG},
};

struct bench_program bench_program = {
    .name = "bench_thread_churn",
    .summary = "Makes many short threads that each allocate a few blocks and end.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct short_thread {
    pthread_t handle;
    size_t number;
    void *blocks[MAX_BLOCKS];  // what stays for the main thread is not NULL
};

static pthread_key_t late_key;

static void allocate_late(void *value)
{
    (void)value;
    free(bench_take(100));
}

static void *run_short_thread(void *argument)
{
    struct short_thread *thread = argument;
    if (arguments[DESTRUCTOR].value) {
        pthread_setspecific(late_key, thread);
    }
    uint32_t random = bench_random_seed(arguments[SEED].value, thread->number);
    size_t block_count = arguments[BLOCKS].value;
    for (size_t index = 0; index < block_count; index++) {
        random = bench_random_next(random);
        thread->blocks[index] = bench_take(16 + (random & 1023));
    }
    size_t step = arguments[LEAVE].value ? 2 : 1;
    for (size_t index = 0; index < block_count; index += step) {
        free(thread->blocks[index]);
        thread->blocks[index] = NULL;
    }
    return NULL;
}

static void start(struct short_thread *thread, size_t number)
{
    thread->number = number;
    thread->handle = bench_thread_make(run_short_thread, thread);
}

static void finish(struct short_thread *thread)
{
    pthread_join(thread->handle, NULL);
    for (size_t index = 0; index < arguments[BLOCKS].value; index++) {
        free(thread->blocks[index]);
    }
}

// Runs threads first .. last with at most `at_once` of them alive.
static void run_threads(struct short_thread *threads, size_t first, size_t last)
{
    size_t at_once = arguments[AT_ONCE].value;
    for (size_t number = first; number < last; number += at_once) {
        size_t count = last - number < at_once ? last - number : at_once;
        for (size_t index = 0; index < count; index++) {
            start(&threads[index], number + index);
        }
        for (size_t index = 0; index < count; index++) {
            finish(&threads[index]);
        }
    }
}

struct bench_result bench_run(void)
{
    errno = pthread_key_create(&late_key, allocate_late);
    if (errno != 0) {
        bench_die("making a key");
    }
    size_t at_once = arguments[AT_ONCE].value;
    size_t thread_count = arguments[THREADS].value;
    struct short_thread *threads = bench_table_make(at_once, sizeof(threads[0]));
    run_threads(threads, 0, at_once);  // what the first threads cost is not growth
    size_t first_rss_bytes = bench_rss_bytes();
    uint64_t start_ns = bench_now_ns();
    run_threads(threads, at_once, at_once + thread_count);
    uint64_t elapsed_ns = bench_now_ns() - start_ns;
    size_t rss_bytes = bench_rss_bytes();
    uint64_t late_operations = arguments[DESTRUCTOR].value ? 2 : 0;
    return (struct bench_result){
        .figure = (double)elapsed_ns / 1e3 / (double)thread_count,
        .unit = "us/thread",
        .lower_is_better = true,
        .operations = thread_count * (2 * arguments[BLOCKS].value + late_operations),
        .elapsed_ns = elapsed_ns,
        .thread_count = at_once + 1,
        .rss_bytes = rss_bytes,
        .further = {{"rss_growth_bytes", (double)rss_bytes - (double)first_rss_bytes}},
    };
}
