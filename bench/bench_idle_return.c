// How much memory an idle program gives back: it fills the heap, frees all of it, and waits.
// SPDX-License-Identifier: MIT
//
// The blocks are linked through their first word in random order, so that the freeing thread needs
// no table and the resident memory is that of the heap.  While it waits the program makes no call
// at all: what falls, falls by itself.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    SIZE,
    TOTAL,
    BURSTS,
    SECONDS,
    IDLE_THREADS,
    FREED_BY,
    ARGUMENT_COUNT
};
enum freeing_thread {
    FREED_BY_OWNER,
    FREED_BY_OTHER
};
enum {
    IDLE_BLOCK_COUNT = 1000
};

static const char *const freed_by_words[] = {
    [FREED_BY_OWNER] = "owner", [FREED_BY_OTHER] = "other", NULL};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [SIZE] = {.name = "size",
              .help = "bytes of a block; 0 mixes 16, 64 and 1000",
              .value = 64,
              .maximum = 1 << 30},
    [TOTAL] = {.name = "total",
               .help = "bytes of all blocks; units allowed",
               .value = UINT64_C(300) << 20,
               .minimum = 1,
               .maximum = UINT64_C(1) << 40},
    [BURSTS] = {.name = "bursts",
                .help = "how often the heap is filled and freed",
                .value = 1,
                .minimum = 1,
                .maximum = 1000},
    [SECONDS] = {.name = "seconds",
                 .help = "idle time at the end",
                 .value = 10,
                 .minimum = 1,
                 .maximum = 3600},
    [IDLE_THREADS] = {.name = "--idle-threads",
                      .help = "threads that idle beside",
                      .value = 0,
                      .maximum = 1000},
    [FREED_BY] = {.name = "--freed-by",
                  .help = "the thread that frees",
                  .kind = BENCH_CHOICE,
                  .choices = freed_by_words},
};

struct bench_program bench_program = {
    .name = "bench_idle_return",
    .summary = "Fills the heap, frees it all, and tells what stays resident while it idles.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct linked_block {
    struct linked_block *next;
};

static size_t block_bytes(size_t index)
{
    static const size_t mixed_bytes[] = {16, 64, 1000};
    size_t bytes = arguments[SIZE].value != 0 ? arguments[SIZE].value : mixed_bytes[index % 3];
    return bytes < sizeof(struct linked_block) ? sizeof(struct linked_block) : bytes;
}

static size_t count_blocks(void)
{
    size_t left_bytes = arguments[TOTAL].value;
    if (arguments[SIZE].value != 0) {
        return left_bytes / block_bytes(0) + 1;
    }
    return left_bytes / (block_bytes(0) + block_bytes(1) + block_bytes(2)) * 3 + 1;
}

// Allocates all blocks and returns them as a list in random order.
static struct linked_block *fill_heap(size_t block_count)
{
    void **blocks = bench_table_make(block_count, sizeof(blocks[0]));
    for (size_t index = 0; index < block_count; index++) {
        blocks[index] = bench_take(block_bytes(index));
    }
    bench_shuffle(blocks, block_count, 1);
    struct linked_block *list = NULL;
    for (size_t index = 0; index < block_count; index++) {
        struct linked_block *block = blocks[index];
        block->next = list;
        list = block;
    }
    bench_table_drop(blocks, block_count, sizeof(blocks[0]));
    return list;
}

static void free_list(struct linked_block *list)
{
    while (list != NULL) {
        struct linked_block *next = list->next;
        free(list);
        list = next;
    }
}

// The other thread frees what it is handed between two meetings, then waits for more.
struct helper {
    pthread_barrier_t meeting;
    struct linked_block *list;
};

static void *free_for_the_owner(void *argument)
{
    struct helper *helper = argument;
    for (uint64_t burst = 0; burst < arguments[BURSTS].value; burst++) {
        pthread_barrier_wait(&helper->meeting);
        free_list(helper->list);
        pthread_barrier_wait(&helper->meeting);
    }
    pthread_barrier_wait(&helper->meeting);
    return NULL;
}

// An idle thread has used the heap, as real ones have, and then does nothing until the end.
static void *use_heap_and_idle(void *argument)
{
    pthread_barrier_t *meeting = argument;
    void *blocks[IDLE_BLOCK_COUNT];
    for (size_t index = 0; index < IDLE_BLOCK_COUNT; index++) {
        blocks[index] = bench_take(16 + index);
    }
    for (size_t index = 0; index < IDLE_BLOCK_COUNT; index++) {
        free(blocks[index]);
    }
    pthread_barrier_wait(meeting);
    pthread_barrier_wait(meeting);
    return NULL;
}

struct idle_result {
    size_t full_bytes;   // resident with the heap full, the most of all bursts
    size_t freed_bytes;  // right after the last block was freed
    size_t after_2s_bytes;
    size_t idle_bytes;    // at the end of the idle time
    uint64_t elapsed_ns;  // filling and freeing
};

static void run_burst(struct helper *helper, size_t block_count, struct idle_result *result)
{
    struct linked_block *list = fill_heap(block_count);
    size_t full_bytes = bench_rss_bytes();
    result->full_bytes = full_bytes > result->full_bytes ? full_bytes : result->full_bytes;
    if (arguments[FREED_BY].value == FREED_BY_OWNER) {
        free_list(list);
        return;
    }
    helper->list = list;
    pthread_barrier_wait(&helper->meeting);
    pthread_barrier_wait(&helper->meeting);
}

static struct idle_result run_and_idle(struct helper *helper)
{
    struct idle_result result = {0};
    size_t block_count = count_blocks();
    uint64_t start_ns = bench_now_ns();
    for (uint64_t burst = 0; burst < arguments[BURSTS].value; burst++) {
        run_burst(helper, block_count, &result);
    }
    result.elapsed_ns = bench_now_ns() - start_ns;
    result.freed_bytes = bench_rss_bytes();
    uint64_t idle_seconds = arguments[SECONDS].value;
    uint64_t first_seconds = idle_seconds < 2 ? idle_seconds : 2;
    bench_sleep_seconds(first_seconds);
    result.after_2s_bytes = bench_rss_bytes();
    bench_sleep_seconds(idle_seconds - first_seconds);
    result.idle_bytes = bench_rss_bytes();
    return result;
}

static struct idle_result run_with_threads_beside(void)
{
    size_t idle_count = arguments[IDLE_THREADS].value;
    pthread_t *idle_threads = bench_table_make(idle_count + 1, sizeof(idle_threads[0]));
    pthread_barrier_t meeting;
    pthread_barrier_init(&meeting, NULL, (unsigned)idle_count + 1);
    for (size_t index = 0; index < idle_count; index++) {
        idle_threads[index] = bench_thread_make(use_heap_and_idle, &meeting);
    }
    pthread_barrier_wait(&meeting);
    struct helper helper = {0};
    pthread_barrier_init(&helper.meeting, NULL, 2);
    bool has_helper = arguments[FREED_BY].value == FREED_BY_OTHER;
    pthread_t other = has_helper ? bench_thread_make(free_for_the_owner, &helper) : pthread_self();

    struct idle_result result = run_and_idle(&helper);

    if (has_helper) {
        pthread_barrier_wait(&helper.meeting);
        pthread_join(other, NULL);
    }
    pthread_barrier_wait(&meeting);
    for (size_t index = 0; index < idle_count; index++) {
        pthread_join(idle_threads[index], NULL);
    }
    return result;
}

struct bench_result bench_run(void)
{
    struct idle_result result = run_with_threads_beside();
    bool is_full_peak = result.full_bytes > result.idle_bytes;
    return (struct bench_result){
        .figure = bench_mib(result.idle_bytes),
        .unit = "MiB idle",
        .lower_is_better = true,
        .operations = 2 * count_blocks() * arguments[BURSTS].value,
        .elapsed_ns = result.elapsed_ns,
        .thread_count = 1 + (size_t)arguments[FREED_BY].value,
        .rss_bytes = result.idle_bytes,
        .peak_rss_bytes = is_full_peak ? result.full_bytes : result.idle_bytes,
        .further = {{"full_mib", bench_mib(result.full_bytes)},
                    {"freed_mib", bench_mib(result.freed_bytes)},
                    {"after_2s_mib", bench_mib(result.after_2s_bytes)}},
    };
}
