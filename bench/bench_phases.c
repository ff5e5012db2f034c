// A program whose needs change: it works on few blocks, then on many, then in waves, and again.
// SPDX-License-Identifier: MIT
//
// Each phase is timed in its second half only, when whatever adapts has had time to; what it is worth in
// the first half shows in the whole.
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    CYCLES,
    ROUNDS,
    SEED,
    ARGUMENT_COUNT
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [CYCLES] = {.name = "cycles",
                .help = "operations of each half of a phase",
                .value = 20000000,
                .minimum = 10000,
                .maximum = UINT64_C(1) << 40},
    [ROUNDS] = {.name = "rounds",
                .help = "how often all phases run",
                .value = 1,
                .minimum = 1,
                .maximum = 1000000},
    [SEED] = BENCH_SEED_ROW(1234567),
};

struct bench_program bench_program = {
    .name = "bench_phases",
    .summary =
        "One thread in turns: random slots among 400, among 100000, and waves of 500 blocks.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

enum {
    NARROW_SLOTS = 400,
    WIDE_SLOTS = 100000,
    WAVE_SLOTS = 500,
    WAVE_BLOCK_BYTES = 256,
};

struct phases {
    void **slots;
    uint32_t random;
};

static void drain(struct phases *phases, uint32_t slot_count)
{
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        free(phases->slots[slot]);
        phases->slots[slot] = NULL;
    }
}

// As in bench_random_mixed.
static void use_random_slots(struct phases *phases, uint32_t slot_count)
{
    for (uint64_t cycle = 0; cycle < arguments[CYCLES].value; cycle++) {
        phases->random = bench_random_next(phases->random);
        void **slot = &phases->slots[phases->random % slot_count];
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = bench_take(16 + (phases->random & 1023));
        }
    }
}

static void use_few(struct phases *phases)
{
    use_random_slots(phases, NARROW_SLOTS);
}

static void use_many(struct phases *phases)
{
    use_random_slots(phases, WIDE_SLOTS);
}

static void make_waves(struct phases *phases)
{
    for (uint64_t wave = 0; wave < arguments[CYCLES].value / (2 * WAVE_SLOTS); wave++) {
        for (uint32_t slot = 0; slot < WAVE_SLOTS; slot++) {
            phases->slots[slot] = bench_take(WAVE_BLOCK_BYTES);
        }
        for (uint32_t slot = 0; slot < WAVE_SLOTS; slot++) {
            free(phases->slots[slot]);
            phases->slots[slot] = NULL;
        }
    }
}

static const struct {
    const char *figure;
    void (*run)(struct phases *phases);
    uint32_t slot_count;  // that may hold a block afterwards
} kinds[] = {
    {"few_mops", use_few, NARROW_SLOTS},
    {"many_mops", use_many, WIDE_SLOTS},
    {"waves_mops", make_waves, WAVE_SLOTS},
};

enum {
    KIND_COUNT = sizeof kinds / sizeof kinds[0]
};

// Returns the nanoseconds of the second half.
static uint64_t run_phase(struct phases *phases, size_t kind)
{
    kinds[kind].run(phases);
    uint64_t start_ns = bench_now_ns();
    kinds[kind].run(phases);
    uint64_t elapsed_ns = bench_now_ns() - start_ns;
    drain(phases, kinds[kind].slot_count);
    return elapsed_ns;
}

struct bench_result bench_run(void)
{
    struct phases phases = {.slots = bench_table_make(WIDE_SLOTS, sizeof(void *)),
                            .random = (uint32_t)arguments[SEED].value};
    uint64_t second_ns[KIND_COUNT] = {0};
    uint64_t rounds = arguments[ROUNDS].value;
    uint64_t start_ns = bench_now_ns();
    for (uint64_t round = 0; round < rounds; round++) {
        for (size_t kind = 0; kind < KIND_COUNT; kind++) {
            second_ns[kind] += run_phase(&phases, kind);
        }
    }
    struct bench_result result = {
        .operations = 2 * KIND_COUNT * rounds * arguments[CYCLES].value,
        .elapsed_ns = bench_now_ns() - start_ns,
        .thread_count = 1,
    };
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        double operations = (double)(rounds * arguments[CYCLES].value);
        result.further[kind].name = kinds[kind].figure;
        result.further[kind].value = operations * 1e3 / (double)second_ns[kind];
    }
    bench_table_drop(phases.slots, WIDE_SLOTS, sizeof(void *));
    return result;
}
