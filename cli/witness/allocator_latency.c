// Times every malloc and free of a process: preloaded by `hakmem bench --latency`, before the allocator.
// SPDX-License-Identifier: MIT
//
// Writes two lines into the file that AB_LATENCY names when the process leaves by exit,
// "malloc <count> <p50> <p99> <p99.9> <max>" and the same of free, in nanoseconds.  What reading the clock
// twice takes is subtracted.  calloc, realloc and the aligned calls go past it, untimed.
//
// A thread counts in a table of its own, which comes from the system and is given back for another thread
// when it ends.  Counts are never taken back, so at the end the tables are simply added up.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP_BITS = 5,  // 32 steps between a power of two and the next: within 3 %
    STEP_COUNT = 1 << STEP_BITS,
    BUCKET_COUNT = 40 * STEP_COUNT,
    CALIBRATION_COUNT = 1001,
};

enum call {
    CALL_MALLOC,
    CALL_FREE,
    CALL_COUNT
};

struct times {
    uint64_t max_ns;
    uint64_t buckets[BUCKET_COUNT];
};

struct table {
    struct table *next;  // of all there are
    atomic_flag is_taken;
    struct times calls[CALL_COUNT];
};

// Written before any thread is made, but for the list.
static struct {
    void *(*malloc)(size_t bytes);
    void (*free)(void *block);
    uint64_t clock_ns;  // of reading it twice
    pthread_key_t key;
    bool has_key;
    _Atomic(struct table *) tables;
} latency;

static __thread struct table *own_table __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Small values have a bucket each; of larger ones the bits below the highest STEP_BITS + 1 are dropped.
static size_t bucket_of(uint64_t ns)
{
    if (ns < STEP_COUNT) {
        return ns;
    }
    unsigned drop = 63 - (unsigned)__builtin_clzll(ns) - STEP_BITS;
    size_t bucket = (size_t)drop * STEP_COUNT + (ns >> drop);
    return bucket < BUCKET_COUNT ? bucket : BUCKET_COUNT - 1;
}

static uint64_t least_of_bucket(size_t bucket)
{
    if (bucket < (size_t)2 * STEP_COUNT) {
        return bucket;
    }
    unsigned drop = (unsigned)(bucket / STEP_COUNT) - 1;
    return (bucket - (size_t)drop * STEP_COUNT) << drop;
}

static void give_table(void *table)
{
    own_table = NULL;
    atomic_flag_clear_explicit(&((struct table *)table)->is_taken, memory_order_release);
}

static struct table *take_table(void)
{
    struct table *table = atomic_load_explicit(&latency.tables, memory_order_acquire);
    // Pairs with the release of whoever gave it.
    while (table != NULL &&
           atomic_flag_test_and_set_explicit(&table->is_taken, memory_order_acquire)) {
        table = table->next;
    }
    if (table == NULL) {
        void *fresh =
            mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) {
            return NULL;
        }
        table = fresh;
        (void)atomic_flag_test_and_set_explicit(&table->is_taken, memory_order_relaxed);
        table->next = atomic_load_explicit(&latency.tables, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&latency.tables, &table->next, table,
                                                      memory_order_release, memory_order_relaxed)) {
        }
    }
    if (latency.has_key) {
        (void)pthread_setspecific(latency.key, table);
    }
    return table;
}

static void count(enum call call, uint64_t start_ns)
{
    uint64_t spent_ns = now_ns() - start_ns;
    uint64_t ns = spent_ns > latency.clock_ns ? spent_ns - latency.clock_ns : 0;
    struct times *times = &own_table->calls[call];
    times->buckets[bucket_of(ns)]++;
    if (ns > times->max_ns) {
        times->max_ns = ns;
    }
}

static void find_allocator(void)
{
    void *malloc_symbol = dlsym(RTLD_NEXT, "malloc");
    void *free_symbol = dlsym(RTLD_NEXT, "free");
    memcpy(&latency.free, &free_symbol, sizeof latency.free);
    memcpy(&latency.malloc, &malloc_symbol, sizeof latency.malloc);
}

// The loader allocates before any constructor has run; that is not timed.
static bool can_time(void)
{
    if (latency.clock_ns == 0) {
        return false;
    }
    own_table = own_table != NULL ? own_table : take_table();
    return own_table != NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (!can_time()) {
        if (latency.malloc == NULL) {
            find_allocator();
        }
        return latency.malloc(bytes);
    }
    uint64_t start_ns = now_ns();
    void *block = latency.malloc(bytes);
    count(CALL_MALLOC, start_ns);
    return block;
}

__attribute__((visibility("default"))) void free(void *block)
{
    if (block == NULL) {
        return;
    }
    if (!can_time()) {
        if (latency.free == NULL) {
            find_allocator();
        }
        latency.free(block);
        return;
    }
    uint64_t start_ns = now_ns();
    latency.free(block);
    count(CALL_FREE, start_ns);
}

static int compare_ns(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

__attribute__((constructor)) static void start(void)
{
    uint64_t pairs_ns[CALIBRATION_COUNT];
    find_allocator();
    latency.has_key = pthread_key_create(&latency.key, give_table) == 0;
    for (size_t i = 0; i < CALIBRATION_COUNT; i++) {
        uint64_t start_ns = now_ns();
        pairs_ns[i] = now_ns() - start_ns;
    }
    qsort(pairs_ns, CALIBRATION_COUNT, sizeof pairs_ns[0], compare_ns);
    uint64_t median_ns = pairs_ns[CALIBRATION_COUNT / 2];
    latency.clock_ns = median_ns > 0 ? median_ns : 1;
}

static void add_up(enum call call, struct times *sum)
{
    struct table *table = atomic_load_explicit(&latency.tables, memory_order_acquire);
    for (; table != NULL; table = table->next) {
        const struct times *times = &table->calls[call];
        sum->max_ns = times->max_ns > sum->max_ns ? times->max_ns : sum->max_ns;
        for (size_t bucket = 0; bucket < BUCKET_COUNT; bucket++) {
            sum->buckets[bucket] += times->buckets[bucket];
        }
    }
}

// The least value of the bucket in which the call of this rank, counted from 1, lies.
static uint64_t find_rank(const struct times *times, uint64_t rank)
{
    size_t bucket = 0;
    uint64_t passed = times->buckets[0];
    while (passed < rank && bucket + 1 < BUCKET_COUNT) {
        passed += times->buckets[++bucket];
    }
    return least_of_bucket(bucket);
}

static void report(int file, const char *name, enum call call)
{
    static struct times sum;
    char line[256];
    uint64_t call_count = 0;
    memset(&sum, 0, sizeof sum);
    add_up(call, &sum);
    for (size_t bucket = 0; bucket < BUCKET_COUNT; bucket++) {
        call_count += sum.buckets[bucket];
    }
    int length = snprintf(line, sizeof line, "%s %llu %llu %llu %llu %llu\n", name,
                          (unsigned long long)call_count,
                          (unsigned long long)find_rank(&sum, call_count - call_count / 2),
                          (unsigned long long)find_rank(&sum, call_count - call_count / 100),
                          (unsigned long long)find_rank(&sum, call_count - call_count / 1000),
                          (unsigned long long)sum.max_ns);
    (void)!write(file, line, (size_t)length);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("AB_LATENCY");
    int file = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) {
        return;
    }
    report(file, "malloc", CALL_MALLOC);
    report(file, "free", CALL_FREE);
    (void)close(file);
}
