// One size, a batch at a time: allocated, then freed in reverse, in order, or shuffled.
// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    SIZE,
    BATCH,
    CYCLES,
    ARGUMENT_COUNT
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [SIZE] =
        {.name = "size", .help = "bytes of a block", .value = 64, .minimum = 1, .maximum = 1 << 20},
    [BATCH] = {.name = "batch",
               .help = "blocks in a batch",
               .value = 100,
               .minimum = 1,
               .maximum = 1 << 24},
    [CYCLES] = {.name = "cycles",
                .help = "batches in each of the three orders",
                .value = 30000,
                .minimum = 1,
                .maximum = UINT64_C(1) << 32},
};

struct bench_program bench_program = {
    .name = "bench_tiny_hot",
    .summary = "Batches of one size, allocated and freed in reverse, in order and shuffled.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

enum free_order {
    ORDER_REVERSE,
    ORDER_FORWARD,
    ORDER_SHUFFLED,
    ORDER_COUNT
};

// places[i] is the slot that is freed as the i-th.  All three orders walk a table, so that they
// differ in nothing else.
static void order_fill(void **slots, void ***places, size_t count, enum free_order order)
{
    for (size_t index = 0; index < count; index++) {
        places[index] = &slots[order == ORDER_REVERSE ? count - 1 - index : index];
    }
    if (order == ORDER_SHUFFLED) {
        bench_shuffle((void **)places, count, 1);
    }
}

static uint64_t run_order(void **slots, void ***places, enum free_order order)
{
    size_t block_bytes = arguments[SIZE].value;
    size_t batch_count = arguments[BATCH].value;
    order_fill(slots, places, batch_count, order);
    uint64_t start_ns = bench_now_ns();
    for (uint64_t cycle = 0; cycle < arguments[CYCLES].value; cycle++) {
        for (size_t index = 0; index < batch_count; index++) {
            slots[index] = bench_take(block_bytes);
        }
        for (size_t index = 0; index < batch_count; index++) {
            free(*places[index]);
        }
    }
    return bench_now_ns() - start_ns;
}

struct bench_result bench_run(void)
{
    size_t batch_count = arguments[BATCH].value;
    void **slots = bench_table_make(batch_count, sizeof(slots[0]));
    void ***places = bench_table_make(batch_count, sizeof(places[0]));
    uint64_t order_operations = 2 * batch_count * arguments[CYCLES].value;
    struct bench_result result = {
        .operations = ORDER_COUNT * order_operations,
        .thread_count = 1,
        .further = {[ORDER_REVERSE] = {.name = "reverse_mops"},
                    [ORDER_FORWARD] = {.name = "forward_mops"},
                    [ORDER_SHUFFLED] = {.name = "shuffled_mops"}},
    };
    for (int order = 0; order < ORDER_COUNT; order++) {
        uint64_t order_ns = run_order(slots, places, (enum free_order)order);
        result.further[order].value = bench_mops(order_operations, order_ns);
        result.elapsed_ns += order_ns;
    }
    return result;
}
