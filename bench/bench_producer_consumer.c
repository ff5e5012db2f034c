// Blocks that one thread allocates and another frees.
// SPDX-License-Identifier: MIT
//
// Four modes run all threads at once, with a ring between each producer and consumer:
//   pairs         `count` producers, each with a consumer of its own
//   one-to-many   one producer, `count` consumers
//   many-to-one   `count` producers, one consumer
//   free-only     many-to-one with much alive: the consumer frees the oldest of 60 MiB
// In two modes the producers have stopped when the main thread frees their blocks, so that no
// owner comes by to take them back:
//   idle          producers allocate, then sleep until the next round
//   exit          producers allocate and end; the next round has new ones
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum mode {
    MODE_PAIRS,
    MODE_ONE_TO_MANY,
    MODE_MANY_TO_ONE,
    MODE_FREE_ONLY,
    MODE_IDLE,
    MODE_EXIT
};
enum {
    MODE,
    COUNT,
    BLOCKS,
    MIN,
    MAX,
    SEED,
    LIVE,
    ARGUMENT_COUNT
};
enum {
    BATCH_COUNT = 32,         // blocks that pass through a ring at a time
    RING_SPARE_COUNT = 1024,  // blocks a producer may be ahead, above those kept alive
    ROUND_COUNT = 4,          // of the modes idle and exit
    MAX_COUNT = 256,
};

static const char *const mode_words[] = {[MODE_PAIRS] = "pairs",
                                         [MODE_ONE_TO_MANY] = "one-to-many",
                                         [MODE_MANY_TO_ONE] = "many-to-one",
                                         [MODE_FREE_ONLY] = "free-only",
                                         [MODE_IDLE] = "idle",
                                         [MODE_EXIT] = "exit",
                                         NULL};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [MODE] = {.name = "mode",
              .help = "who allocates and who frees",
              .kind = BENCH_CHOICE,
              .choices = mode_words},
    [COUNT] = {.name = "count",
               .help = "pairs, or threads of the side that is many",
               .value = 1,
               .minimum = 1,
               .maximum = MAX_COUNT},
    [BLOCKS] = {.name = "blocks",
                .help = "blocks in all",
                .value = 4000000,
                .minimum = 1,
                .maximum = UINT64_C(1) << 32},
    [MIN] = BENCH_MIN_ROW(16),
    [MAX] = BENCH_MAX_ROW(512),
    [SEED] = BENCH_SEED_ROW(1),
    [LIVE] = {.name = "--live",
              .help = "bytes kept alive in the rings; free-only: 60 MiB",
              .maximum = UINT64_C(1) << 36},
};

struct bench_program bench_program = {
    .name = "bench_producer_consumer",
    .summary = "Some threads allocate blocks and others free them.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

// One producer writes `produced_count` and the slots before it; one consumer writes the other
// counter.  Each publishes with a release store that pairs with the acquire load of the other.
struct ring {
    alignas(BENCH_CACHE_LINE_BYTES) _Atomic size_t produced_count;
    alignas(BENCH_CACHE_LINE_BYTES) _Atomic size_t consumed_count;
    alignas(BENCH_CACHE_LINE_BYTES) void **slots;
    size_t slot_count;
    size_t total_count;  // blocks that pass through in the whole run
    size_t kept_count;   // blocks that stay in it while the producer goes on
};

// The rings first .. last - 1, which one producer or consumer serves.
struct ring_range {
    size_t first;
    size_t last;
};

struct exchange {
    struct ring *rings;
    size_t ring_count;
    size_t producer_count;
    size_t consumer_count;
};

static size_t next_size(uint32_t *random)
{
    *random = bench_random_next(*random);
    return arguments[MIN].value + *random % (arguments[MAX].value - arguments[MIN].value + 1);
}

// A consumer reads what it is given: here the byte that bench_take wrote.
static void free_block(void *block)
{
    if (*(const char *)block != 1) {
        bench_die("finding the content of a block");
    }
    free(block);
}

// Produces one batch if there is room.  Returns how many blocks.
static size_t produce(struct ring *ring, uint32_t *random)
{
    size_t produced = atomic_load_explicit(&ring->produced_count, memory_order_relaxed);
    size_t consumed = atomic_load_explicit(&ring->consumed_count, memory_order_acquire);
    size_t left = ring->total_count - produced;
    size_t count = left < BATCH_COUNT ? left : BATCH_COUNT;
    if (produced + count - consumed > ring->slot_count) {
        return 0;
    }
    for (size_t index = 0; index < count; index++) {
        ring->slots[(produced + index) % ring->slot_count] = bench_take(next_size(random));
    }
    atomic_store_explicit(&ring->produced_count, produced + count, memory_order_release);
    return count;
}

// Frees at most one batch of the oldest blocks.  Returns how many.
static size_t consume(struct ring *ring)
{
    size_t consumed = atomic_load_explicit(&ring->consumed_count, memory_order_relaxed);
    size_t produced = atomic_load_explicit(&ring->produced_count, memory_order_acquire);
    size_t kept = produced < ring->total_count ? ring->kept_count : 0;
    if (produced - consumed <= kept) {
        return 0;
    }
    size_t ready = produced - consumed - kept;
    size_t count = ready < BATCH_COUNT ? ready : BATCH_COUNT;
    for (size_t index = 0; index < count; index++) {
        free_block(ring->slots[(consumed + index) % ring->slot_count]);
    }
    atomic_store_explicit(&ring->consumed_count, consumed + count, memory_order_release);
    return count;
}

// The rings that belong to number `index` of `thread_count` producers or consumers.
static struct ring_range range_of(const struct exchange *exchange, size_t index,
                                  size_t thread_count)
{
    if (thread_count == 1) {
        return (struct ring_range){0, exchange->ring_count};
    }
    return (struct ring_range){index, index + 1};
}

static void exchange_blocks(size_t index, void *context)
{
    const struct exchange *exchange = context;
    bool is_producer = index < exchange->producer_count;
    struct ring_range range = is_producer ? range_of(exchange, index, exchange->producer_count)
                                          : range_of(exchange, index - exchange->producer_count,
                                                     exchange->consumer_count);
    uint32_t random = bench_random_seed(arguments[SEED].value, index);
    size_t left = (range.last - range.first) * exchange->rings[0].total_count;
    while (left > 0) {
        size_t passed = 0;
        for (size_t ring = range.first; ring < range.last; ring++) {
            passed += is_producer ? produce(&exchange->rings[ring], &random)
                                  : consume(&exchange->rings[ring]);
        }
        left -= passed;
        if (passed == 0) {
            sched_yield();
        }
    }
}

static struct exchange exchange_make(void)
{
    enum mode mode = (enum mode)arguments[MODE].value;
    size_t count = arguments[COUNT].value;
    struct exchange exchange = {
        .ring_count = count,
        .producer_count = mode == MODE_ONE_TO_MANY ? 1 : count,
        .consumer_count = mode == MODE_MANY_TO_ONE || mode == MODE_FREE_ONLY ? 1 : count,
    };
    if (mode == MODE_FREE_ONLY && !arguments[LIVE].is_given) {
        arguments[LIVE].value = UINT64_C(60) << 20;
    }
    size_t mean_bytes = (arguments[MIN].value + arguments[MAX].value) / 2;
    size_t kept_count = arguments[LIVE].value / mean_bytes / count;
    exchange.rings = bench_table_make(count, sizeof(exchange.rings[0]));
    for (size_t index = 0; index < count; index++) {
        struct ring *ring = &exchange.rings[index];
        ring->slot_count = kept_count + RING_SPARE_COUNT;
        ring->slots = bench_table_make(ring->slot_count, sizeof(ring->slots[0]));
        ring->total_count = arguments[BLOCKS].value / count;
        ring->kept_count = kept_count;
    }
    return exchange;
}

static struct bench_result run_exchange(void)
{
    struct exchange exchange = exchange_make();
    size_t thread_count = exchange.producer_count + exchange.consumer_count;
    uint64_t elapsed_ns = bench_threads_run(thread_count, exchange_blocks, &exchange);
    return (struct bench_result){
        .operations = 2 * exchange.ring_count * exchange.rings[0].total_count,
        .elapsed_ns = elapsed_ns,
        .thread_count = thread_count,
    };
}

// A producer of the modes idle and exit.
struct stopping_producer {
    pthread_t handle;
    sem_t may_start;
    sem_t has_stopped;
    void **blocks;
    size_t block_count;
    uint32_t random;
};

static void allocate_share(struct stopping_producer *producer)
{
    for (size_t index = 0; index < producer->block_count; index++) {
        producer->blocks[index] = bench_take(next_size(&producer->random));
    }
}

static void *produce_and_exit(void *argument)
{
    allocate_share(argument);
    return NULL;
}

static void *produce_and_idle(void *argument)
{
    struct stopping_producer *producer = argument;
    for (int round = 0; round < ROUND_COUNT; round++) {
        sem_wait(&producer->may_start);
        allocate_share(producer);
        sem_post(&producer->has_stopped);
    }
    sem_wait(&producer->may_start);
    return NULL;
}

// Lets one producer allocate its share and waits until it has stopped.
static void produce_share(struct stopping_producer *producer)
{
    if (arguments[MODE].value == MODE_IDLE) {
        sem_post(&producer->may_start);
        sem_wait(&producer->has_stopped);
    } else {
        producer->handle = bench_thread_make(produce_and_exit, producer);
        pthread_join(producer->handle, NULL);
    }
}

static void free_share(const struct stopping_producer *producer)
{
    for (size_t index = 0; index < producer->block_count; index++) {
        free_block(producer->blocks[index]);
    }
}

static struct stopping_producer *producers_make(size_t producer_count)
{
    struct stopping_producer *producers = bench_table_make(producer_count, sizeof(producers[0]));
    size_t block_count = arguments[BLOCKS].value / producer_count / ROUND_COUNT;
    for (size_t index = 0; index < producer_count; index++) {
        struct stopping_producer *producer = &producers[index];
        producer->block_count = block_count;
        producer->blocks = bench_table_make(block_count + 1, sizeof(producer->blocks[0]));
        producer->random = bench_random_seed(arguments[SEED].value, index);
        sem_init(&producer->may_start, 0, 0);
        sem_init(&producer->has_stopped, 0, 0);
        if (arguments[MODE].value == MODE_IDLE) {
            producer->handle = bench_thread_make(produce_and_idle, producer);
        }
    }
    return producers;
}

static struct bench_result run_stopping_producers(void)
{
    size_t producer_count = arguments[COUNT].value;
    struct stopping_producer *producers = producers_make(producer_count);
    uint64_t start_ns = bench_now_ns();
    for (int round = 0; round < ROUND_COUNT; round++) {
        for (size_t index = 0; index < producer_count; index++) {
            produce_share(&producers[index]);
        }
        for (size_t index = 0; index < producer_count; index++) {
            free_share(&producers[index]);
        }
    }
    struct bench_result result = {
        .operations = 2 * producer_count * ROUND_COUNT * producers[0].block_count,
        .elapsed_ns = bench_now_ns() - start_ns,
        .thread_count = producer_count + 1,
        .rss_bytes = bench_rss_bytes(),  // with the idle ones still there
    };
    for (size_t index = 0; arguments[MODE].value == MODE_IDLE && index < producer_count; index++) {
        sem_post(&producers[index].may_start);
        pthread_join(producers[index].handle, NULL);
    }
    return result;
}

struct bench_result bench_run(void)
{
    if (arguments[MIN].value > arguments[MAX].value) {
        bench_arguments_refuse(&bench_program, "min must not be larger than max.");
    }
    if (arguments[BLOCKS].value < ROUND_COUNT * arguments[COUNT].value) {
        bench_arguments_refuse(&bench_program, "blocks must be at least four times count.");
    }
    return arguments[MODE].value >= MODE_IDLE ? run_stopping_producers() : run_exchange();
}
