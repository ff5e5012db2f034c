// The mixed workload: a thread fills and empties slots at random.
// SPDX-License-Identifier: MIT
//
// Each cycle draws one number r: slot r mod ws is freed when occupied, else it gets a block of
// 16 + (r & 1023) bytes.  Slot and size come from the same bits, so with ws a power of two a slot
// always gets the same size; --independent draws the size by itself and mends that.
// With --threads each thread has slots and random numbers of its own and runs all the cycles.
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    CYCLES,
    WS,
    SEED,
    MIN,
    MAX,
    INDEPENDENT,
    C6,
    THREADS,
    ARGUMENT_COUNT
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [CYCLES] = {.name = "cycles",
                .help = "how often a slot is drawn",
                .value = 10000000,
                .minimum = 1,
                .maximum = UINT64_C(1) << 40},
    [WS] = {.name = "ws",
            .help = "slots; about half are occupied",
            .value = 8192,
            .minimum = 1,
            .maximum = 1 << 28},
    [SEED] = BENCH_SEED_ROW(1234567),
    [MIN] = {.name = "min",
             .help = "smaller sizes become this one; 0 leaves them",
             .maximum = 1 << 30},
    [MAX] = {.name = "max",
             .help = "larger sizes become this one; 0 leaves them",
             .maximum = 1 << 30},
    [INDEPENDENT] = {.name = "--independent",
                     .help = "draw slot and size apart",
                     .kind = BENCH_FLAG},
    [C6] = {.name = "--c6", .help = "sizes uniform from 257 to 512 bytes", .kind = BENCH_FLAG},
    [THREADS] = {.name = "--threads",
                 .help = "threads, each with slots of its own",
                 .value = 1,
                 .minimum = 1,
                 .maximum = 1024},
};

struct bench_program bench_program = {
    .name = "bench_random_mixed",
    .summary = "A thread fills and empties random slots with blocks of 16 to 1039 bytes.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct mixed_rule {
    uint64_t cycles;
    uint32_t slot_count;
    uint32_t seed;
    uint32_t least_bytes;  // a size is least_bytes + (r & size_mask), then clamped
    uint32_t size_mask;
    uint32_t clamp_min_bytes;
    uint32_t clamp_max_bytes;
    uint64_t is_independent;
};

static uint32_t size_from(const struct mixed_rule *rule, uint32_t random)
{
    uint32_t bytes = rule->least_bytes + (random & rule->size_mask);
    bytes = bytes < rule->clamp_min_bytes ? rule->clamp_min_bytes : bytes;
    return bytes > rule->clamp_max_bytes ? rule->clamp_max_bytes : bytes;
}

static uint64_t drain(void **slots, size_t slot_count)
{
    uint64_t freed_count = 0;
    for (size_t slot = 0; slot < slot_count; slot++) {
        if (slots[slot] != NULL) {
            free(slots[slot]);
            freed_count++;
        }
    }
    return freed_count;
}

// Returns how many operations it made: one a cycle, and those of the drain.
static uint64_t run(const struct mixed_rule *rule, void **slots, uint32_t random)
{
    for (uint64_t cycle = 0; cycle < rule->cycles; cycle++) {
        random = bench_random_next(random);
        void **slot = &slots[random % rule->slot_count];
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
            continue;
        }
        if (rule->is_independent) {
            random = bench_random_next(random);
        }
        *slot = bench_take(size_from(rule, random));
    }
    return rule->cycles + drain(slots, rule->slot_count);
}

static struct mixed_rule rule_from_arguments(void)
{
    uint64_t min = arguments[MIN].value;
    uint64_t max = arguments[MAX].value;
    if (max != 0 && min > max) {
        bench_arguments_refuse(&bench_program, "min must not be larger than max.");
    }
    uint64_t is_c6 = arguments[C6].value;
    if (is_c6 && (min != 0 || max != 0)) {
        bench_arguments_refuse(&bench_program,
                               "--c6 draws its own sizes, so give no min and max with it.");
    }
    return (struct mixed_rule){
        .cycles = arguments[CYCLES].value,
        .slot_count = (uint32_t)arguments[WS].value,
        .seed = (uint32_t)arguments[SEED].value,
        .least_bytes = is_c6 ? 257 : 16,
        .size_mask = is_c6 ? 255 : 1023,
        .clamp_min_bytes = (uint32_t)min,
        .clamp_max_bytes = max != 0 ? (uint32_t)max : UINT32_MAX,
        .is_independent = arguments[INDEPENDENT].value,
    };
}

struct mixed_run {
    struct mixed_rule rule;
    void **slots;                      // of all threads
    _Atomic uint64_t operation_count;  // added up at the end of each; the join orders it
};

static void run_thread(size_t index, void *context)
{
    struct mixed_run *mixed = context;
    struct mixed_rule rule = mixed->rule;  // its own, so that the loop need not read it again
    uint32_t random = index == 0 ? rule.seed : bench_random_seed(rule.seed, index);
    uint64_t count = run(&rule, mixed->slots + index * rule.slot_count, random);
    atomic_fetch_add_explicit(&mixed->operation_count, count, memory_order_relaxed);
}

struct bench_result bench_run(void)
{
    size_t thread_count = arguments[THREADS].value;
    struct mixed_run mixed = {.rule = rule_from_arguments()};
    mixed.slots = bench_table_make(thread_count * mixed.rule.slot_count, sizeof(mixed.slots[0]));
    uint64_t elapsed_ns = bench_threads_run(thread_count, run_thread, &mixed);
    return (struct bench_result){
        .operations = mixed.operation_count,
        .elapsed_ns = elapsed_ns,
        .thread_count = thread_count,
    };
}
