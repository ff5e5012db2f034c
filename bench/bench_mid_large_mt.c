// Blocks of 8, 16 or 32 KiB and a little more, in slots of each thread's own.
// SPDX-License-Identifier: MIT
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    THREADS,
    CYCLES,
    WS,
    SEED,
    ARGUMENT_COUNT
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [THREADS] = BENCH_THREADS_ROW(2),
    [CYCLES] = {.name = "cycles",
                .help = "how often each thread draws a slot",
                .value = 1000000,
                .minimum = 1,
                .maximum = UINT64_C(1) << 40},
    [WS] = {.name = "ws",
            .help = "slots of each thread; about half are occupied",
            .value = 256,
            .minimum = 1,
            .maximum = 1 << 20},
    [SEED] = BENCH_SEED_ROW(1),
};

struct bench_program bench_program = {
    .name = "bench_mid_large_mt",
    .summary = "Threads fill and empty random slots with blocks of 8, 16 or 32 KiB + 0 to 2047.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct mid_large_run {
    void **slots;  // of all threads, one behind the other
    _Atomic uint64_t drained_count;
};

static size_t size_from(uint32_t random)
{
    size_t kib = (size_t)8 << (random % 3);
    return (kib << 10) + ((random >> 16) & 2047);
}

static void fill_and_empty_slots(size_t index, void *context)
{
    struct mid_large_run *run = context;
    size_t slot_count = arguments[WS].value;
    void **slots = run->slots + index * slot_count;
    uint32_t random = bench_random_seed(arguments[SEED].value, index);
    for (uint64_t cycle = 0; cycle < arguments[CYCLES].value; cycle++) {
        random = bench_random_next(random);
        void **slot = &slots[random % slot_count];
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
            continue;
        }
        random = bench_random_next(random);
        *slot = bench_take(size_from(random));
    }
    uint64_t freed_count = 0;
    for (size_t slot = 0; slot < slot_count; slot++) {
        freed_count += slots[slot] != NULL;
        free(slots[slot]);
    }
    atomic_fetch_add_explicit(&run->drained_count, freed_count, memory_order_relaxed);
}

struct bench_result bench_run(void)
{
    size_t thread_count = arguments[THREADS].value;
    struct mid_large_run run = {
        .slots = bench_table_make(thread_count * arguments[WS].value, sizeof(run.slots[0]))};
    uint64_t elapsed_ns = bench_threads_run(thread_count, fill_and_empty_slots, &run);
    return (struct bench_result){
        .operations = thread_count * arguments[CYCLES].value + run.drained_count,
        .elapsed_ns = elapsed_ns,
        .thread_count = thread_count,
    };
}
