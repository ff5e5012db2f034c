// Vectors that grow by realloc, from 64 bytes to a large size, on one or many threads.
// SPDX-License-Identifier: MIT
//
// After each step one word of every new page is written, as a program does that fills its vector;
// at the end all of them are read back, so a realloc that loses content ends the run.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    MAX,
    VECTORS,
    THREADS,
    FACTOR,
    ARGUMENT_COUNT
};
enum {
    FIRST_BYTES = 64
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [MAX] = {.name = "max",
             .help = "bytes at which a vector is done; units allowed",
             .value = 1 << 30,
             .minimum = FIRST_BYTES,
             .maximum = UINT64_C(1) << 40},
    [VECTORS] = {.name = "vectors",
                 .help = "vectors that each thread grows, one after another",
                 .value = 1,
                 .minimum = 1,
                 .maximum = 1 << 30},
    [THREADS] = BENCH_THREADS_ROW(1),
    [FACTOR] = {.name = "factor",
                .help = "growth of a step in percent",
                .value = 200,
                .minimum = 110,
                .maximum = 1000},
};

struct bench_program bench_program = {
    .name = "bench_realloc_growth",
    .summary = "Grows vectors by realloc from 64 bytes, and checks their content.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

static size_t next_size(size_t bytes)
{
    size_t max_bytes = arguments[MAX].value;
    size_t grown_bytes =
        bytes / 100 * arguments[FACTOR].value + bytes % 100 * arguments[FACTOR].value / 100;
    return grown_bytes < max_bytes ? grown_bytes : max_bytes;
}

// Writes a word at every page boundary of the vector in [from, to), and at its very start.
static void stamp(char *vector, size_t from, size_t to)
{
    size_t first = (from + BENCH_PAGE_BYTES - 1) / BENCH_PAGE_BYTES * BENCH_PAGE_BYTES;
    for (size_t offset = first; offset + sizeof(size_t) <= to; offset += BENCH_PAGE_BYTES) {
        *(size_t *)(vector + offset) = offset + 1;
    }
}

static void check_stamps(const char *vector, size_t bytes)
{
    for (size_t offset = 0; offset + sizeof(size_t) <= bytes; offset += BENCH_PAGE_BYTES) {
        if (*(const size_t *)(vector + offset) != offset + 1) {
            bench_print(stderr, "bench_realloc_growth: the content at byte %zu was lost\n", offset);
            exit(1);
        }
    }
}

// Returns how many calls of malloc, realloc and free it made.
static uint64_t grow_one_vector(void)
{
    uint64_t operations = 2;
    size_t bytes = FIRST_BYTES;
    char *vector = bench_take(bytes);
    stamp(vector, 0, bytes);
    while (bytes < arguments[MAX].value) {
        size_t grown_bytes = next_size(bytes);
        char *grown = realloc(vector, grown_bytes);
        if (grown == NULL) {
            bench_die("realloc");
        }
        stamp(grown, bytes, grown_bytes);
        vector = grown;
        bytes = grown_bytes;
        operations++;
    }
    check_stamps(vector, bytes);
    free(vector);
    return operations;
}

static void grow_vectors(size_t index, void *context)
{
    (void)index;
    _Atomic uint64_t *operations = context;
    for (uint64_t vector = 0; vector < arguments[VECTORS].value; vector++) {
        atomic_fetch_add_explicit(operations, grow_one_vector(), memory_order_relaxed);
    }
}

struct bench_result bench_run(void)
{
    size_t thread_count = arguments[THREADS].value;
    _Atomic uint64_t operations = 0;
    uint64_t elapsed_ns = bench_threads_run(thread_count, grow_vectors, &operations);
    uint64_t vector_count = thread_count * arguments[VECTORS].value;
    return (struct bench_result){
        .figure = (double)elapsed_ns / 1e3 / (double)vector_count,
        .unit = "us/vector",
        .lower_is_better = true,
        .operations = operations,
        .elapsed_ns = elapsed_ns,
        .thread_count = thread_count,
    };
}
