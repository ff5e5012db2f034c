// Many small blocks are built up and then all freed, as when a program drops a large structure.
// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    BLOCKS,
    MIN,
    MAX,
    ROUNDS,
    SEED,
    SEQUENTIAL,
    ARGUMENT_COUNT
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [BLOCKS] = {.name = "blocks",
                .help = "blocks alive before the teardown",
                .value = 300000,
                .minimum = 1,
                .maximum = 1 << 28},
    [MIN] = BENCH_MIN_ROW(16),
    [MAX] = BENCH_MAX_ROW(128),
    [ROUNDS] = {.name = "rounds",
                .help = "how often it is built up and torn down",
                .value = 10,
                .minimum = 1,
                .maximum = 1000000},
    [SEED] = BENCH_SEED_ROW(1),
    [SEQUENTIAL] = {.name = "--sequential",
                    .help = "free in the order of allocation",
                    .kind = BENCH_FLAG},
};

struct bench_program bench_program = {
    .name = "bench_teardown",
    .summary = "Builds up many small blocks and frees them all in random order.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

static uint32_t build_up(void **blocks, uint32_t random)
{
    uint32_t size_count = (uint32_t)(arguments[MAX].value - arguments[MIN].value) + 1;
    for (size_t index = 0; index < arguments[BLOCKS].value; index++) {
        random = bench_random_next(random);
        blocks[index] = bench_take(arguments[MIN].value + random % size_count);
    }
    return random;
}

static void tear_down(void **blocks)
{
    for (size_t index = 0; index < arguments[BLOCKS].value; index++) {
        free(blocks[index]);
    }
}

struct teardown_times {
    uint64_t alloc_ns;
    uint64_t free_ns;
};

// The shuffle stands between the two and is not timed.
static struct teardown_times run_rounds(void **blocks)
{
    struct teardown_times times = {0};
    uint32_t random = bench_random_seed(arguments[SEED].value, 0);
    for (uint64_t round = 0; round < arguments[ROUNDS].value; round++) {
        uint64_t start_ns = bench_now_ns();
        random = build_up(blocks, random);
        times.alloc_ns += bench_now_ns() - start_ns;
        if (!arguments[SEQUENTIAL].value) {
            bench_shuffle(blocks, arguments[BLOCKS].value, random);
        }
        start_ns = bench_now_ns();
        tear_down(blocks);
        times.free_ns += bench_now_ns() - start_ns;
    }
    return times;
}

struct bench_result bench_run(void)
{
    if (arguments[MIN].value > arguments[MAX].value) {
        bench_arguments_refuse(&bench_program, "min must not be larger than max.");
    }
    size_t block_count = arguments[BLOCKS].value;
    void **blocks = bench_table_make(block_count, sizeof(blocks[0]));
    struct teardown_times times = run_rounds(blocks);
    uint64_t round_operations = block_count * arguments[ROUNDS].value;
    return (struct bench_result){
        .operations = 2 * round_operations,
        .elapsed_ns = times.alloc_ns + times.free_ns,
        .thread_count = 1,
        .further = {{"alloc_ns_per_op", (double)times.alloc_ns / (double)round_operations},
                    {"free_ns_per_op", (double)times.free_ns / (double)round_operations}},
    };
}
