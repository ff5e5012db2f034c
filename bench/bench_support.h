// What every workload needs: random numbers, a clock, resident memory, tables and threads.
// SPDX-License-Identifier: MIT
//
// Nothing here calls malloc, so that the heap holds the workload's own blocks and nothing else.
#ifndef HAK_BENCH_SUPPORT_H
#define HAK_BENCH_SUPPORT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BENCH_PAGE_BYTES = 4096,
    BENCH_CACHE_LINE_BYTES = 64,
};

// One step of xorshift32.  `state` must not be 0, and the result never is.
static inline uint32_t bench_random_next(uint32_t state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// A starting state for thread `index`, different for each and never 0.
uint32_t bench_random_seed(uint64_t seed, size_t index);

// Puts items[0 .. count) in random order.
void bench_shuffle(void **items, size_t count, uint32_t seed);

// Monotonic time.
uint64_t bench_now_ns(void);

// Sleeps without calling anything that could allocate.
void bench_sleep_seconds(uint64_t seconds);

// Resident memory of this process now, and the most since it started.
size_t bench_rss_bytes(void);
size_t bench_peak_rss_bytes(void);

// A zeroed table from the system, already resident, so that its page faults are not timed.
void *bench_table_make(size_t count, size_t item_bytes);
void bench_table_drop(void *table, size_t count, size_t item_bytes);

// printf to a stream, and snprintf, that end the program with status 1 when they fail.
void bench_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_format(char *text, size_t text_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Reports that `what` failed and ends the program with status 1.
_Noreturn void bench_die(const char *what);

// malloc that ends the program when memory is out, with the first byte touched.
void *bench_take(size_t bytes);

// pthread_create that ends the program when it fails.
pthread_t bench_thread_make(void *(*run)(void *argument), void *argument);

// Runs work(index, context) on `thread_count` threads that start together, and returns the
// nanoseconds from the first start to the last end; making and joining them is not in it.
// A single one runs on the calling thread, so that the process stays single-threaded.
typedef void bench_work(size_t index, void *context);
uint64_t bench_threads_run(size_t thread_count, bench_work *work, void *context);

#endif
