// See use_everything.h.
// SPDX-License-Identifier: MIT
#include "use_everything.h"

#include "hakmem.h"
#include "piece_lot.h"
#include "process_memory.h"
#include "random_stream.h"
#include "stress_allocator.h"
#include "test_check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STEP_COUNT = 200,  // of a lot's random work
    THREAD_COUNT = 3,
    STACK_BYTES = 256 << 10,
    BATCH_COUNT = 200,
    SPARSE_COUNT = 1200,  // blocks of which most are freed, so that pages inside slabs go back
    SPARSE_KEPT_EACH = 32,
    LIMIT_ROOM_BYTES = 4 << 20,
    LIMIT_BLOCK_BYTES = 100000,
    LIMIT_BLOCK_COUNT = 80,
    HEAP_BLOCK_COUNT = 60,
    CHILD_SECONDS = 20,
};

// One of the threads: it works, then waits while others free its blocks, and works again.
struct helper {
    pthread_t thread;
    bool is_running;
    sem_t has_worked;
    sem_t may_go_on;
    struct lot lot;
};

static struct {
    struct lot lot;
    struct helper helpers[THREAD_COUNT];
    void *many[SPARSE_COUNT];
} use;

static _Alignas(4096) char stacks[THREAD_COUNT][STACK_BYTES];

// ---- Many blocks of a size ----------------------------------------------------------------------

static void use_batches(struct random_stream *random)
{
    size_t bytes = 1 + random_below(random, 2000);
    errno = 0;
    size_t count = stress_batch_alloc(bytes, use.many, BATCH_COUNT);
    (void)lot_block_has_come(count < BATCH_COUNT ? NULL : use.many);
    stress_batch_free(use.many, count);
    memset(use.many, 0, sizeof use.many);
}

// Frees most of many blocks, so that pages inside slabs go back, and takes them again.
static void use_sparsely(struct random_stream *random)
{
    size_t bytes = 16 + 16 * random_below(random, 90);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < SPARSE_COUNT; i++) {
            errno = 0;
            if (use.many[i] == NULL && lot_block_has_come(use.many[i] = stress_malloc(bytes))) {
                memset(use.many[i], 1, bytes);
            }
        }
        for (size_t i = 0; i < SPARSE_COUNT; i++) {
            if (turn == 1 || i % SPARSE_KEPT_EACH != 0) {
                stress_free(use.many[i]);
                use.many[i] = NULL;
            }
        }
        stress_trim();
    }
}

// ---- Threads and processes ----------------------------------------------------------------------

static void *help(void *argument)
{
    struct helper *helper = argument;
    lot_work(&helper->lot, STEP_COUNT);
    (void)sem_post(&helper->has_worked);
    while (sem_wait(&helper->may_go_on) != 0) {
    }
    lot_work(&helper->lot, STEP_COUNT / 4);
    stress_thread_flush();
    lot_work(&helper->lot, STEP_COUNT / 4);
    return NULL;
}

// A thread that can't be had is done without: libc needs memory for each.
static void start_helper(struct helper *helper, void *stack)
{
    pthread_attr_t attributes;
    REQUIRE(sem_init(&helper->has_worked, 0, 0) == 0 && sem_init(&helper->may_go_on, 0, 0) == 0);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstack(&attributes, stack, STACK_BYTES) == 0);
    helper->is_running = pthread_create(&helper->thread, &attributes, help, helper) == 0;
    EXPECT(helper->is_running || lot_can_fail());
    (void)pthread_attr_destroy(&attributes);
}

// All work at once; their blocks are freed here while they live, and after they have ended.
static void use_threads(size_t round)
{
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        use.helpers[i].lot.random.state = round * THREAD_COUNT + i + 100;
        start_helper(&use.helpers[i], stacks[i]);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        struct helper *helper = &use.helpers[i];
        if (helper->is_running) {
            while (sem_wait(&helper->has_worked) != 0) {
            }
            lot_give(&helper->lot);
            (void)sem_post(&helper->may_go_on);
        }
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        if (use.helpers[i].is_running) {
            (void)pthread_join(use.helpers[i].thread, NULL);
            lot_give(&use.helpers[i].lot);
        }
    }
}

static void use_fork(void)
{
    pid_t pid = fork();
    EXPECT(pid >= 0 || lot_can_fail());
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS);
        lot_work(&use.lot, STEP_COUNT / 2);
        lot_give(&use.lot);
        stress_trim();
        _exit(check_result());
    }
    int status = -1;
    if (pid > 0) {
        EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

// ---- What only hakmem has -----------------------------------------------------------------------

static void fill_heap(struct hak_heap *heap, struct random_stream *random)
{
    for (size_t i = 0; i < HEAP_BLOCK_COUNT; i++) {
        size_t bytes = lot_draw_size(random);
        errno = 0;
        unsigned char *block =
            i % 3 == 0 ? hak_heap_aligned_alloc(heap, 4096, bytes) : hak_heap_malloc(heap, bytes);
        if (!lot_block_has_come(block)) {
            continue;
        }
        block[bytes - 1] = 1;
        errno = 0;
        unsigned char *moved = hak_realloc(block, bytes + bytes / 2);
        moved = lot_block_has_come(moved) ? moved : block;
        EXPECT(moved[bytes - 1] == 1);
        if (i % 2 == 0) {
            hak_free(moved);
        }
    }
}

static void use_a_heap(struct random_stream *random)
{
    errno = 0;
    struct hak_heap *heap = hak_heap_create();
    if (lot_block_has_come(heap)) {
        fill_heap(heap, random);
        hak_heap_destroy(heap);
    }
}

static size_t committed_bytes(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    EXPECT(hak_stats_read(&stats) == 0);
    return stats.committed_bytes;
}

// What the limit's callback may free.  It runs in whatever thread meets the limit, hence the lock, which is
// never held around a call of the allocator.
static struct {
    pthread_mutex_t lock;
    size_t count;
} limited = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep_one(void *block)
{
    (void)pthread_mutex_lock(&limited.lock);
    use.many[limited.count++] = block;
    (void)pthread_mutex_unlock(&limited.lock);
}

static bool free_one(size_t wanted_bytes, void *context)
{
    void *block = NULL;
    (void)wanted_bytes;
    (void)context;
    (void)pthread_mutex_lock(&limited.lock);
    if (limited.count != 0) {
        limited.count--;
        block = use.many[limited.count];
        use.many[limited.count] = NULL;
    }
    (void)pthread_mutex_unlock(&limited.lock);
    stress_free(block);
    return block != NULL;
}

// Here refusals are the limit's.
static void use_a_limit(void)
{
    (void)hak_limit_set(committed_bytes() + LIMIT_ROOM_BYTES);
    hak_limit_set_callback(free_one, NULL);
    for (size_t i = 0; i < LIMIT_BLOCK_COUNT; i++) {
        errno = 0;
        void *block = stress_malloc(LIMIT_BLOCK_BYTES);
        EXPECT(block != NULL || errno == ENOMEM);
        if (block != NULL) {
            keep_one(block);
        }
    }
    hak_limit_set_callback(NULL, NULL);
    EXPECT(stress_malloc((size_t)1 << 30) == NULL && errno == ENOMEM);
    while (free_one(0, NULL)) {
    }
    (void)hak_limit_set(0);
}

static void set_gates(const char *const *gates, const char *value)
{
    for (size_t i = 0; gates[i] != NULL; i++) {
        EXPECT(hak_ctl_set(gates[i], value) == 0);
    }
}

// Each backend in turn serves the bands that it can.
static void use_backends(struct random_stream *random)
{
    static const char *const switches[] = {"HAKMEM_TINY_C7_ULTRA_ENABLED",
                                           "HAKMEM_TINY_C6_ULTRA_ENABLED", NULL};
    static const char *const v7[] = {"HAKMEM_SMALL_HEAP_V7_ENABLED", NULL};
    static const char *const mid_v3[] = {"HAKMEM_MID_V3_ENABLED", NULL};
    static const char *const *const backends[] = {switches, v7, mid_v3};
    EXPECT(hak_ctl_set("HAKMEM_SMALL_HEAP_V7_CLASSES", "0xff") == 0);
    EXPECT(hak_ctl_set("HAKMEM_MID_V3_CLASSES", "0xff") == 0);
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        set_gates(backends[i], "on");
        use_sparsely(random);
        lot_work(&use.lot, STEP_COUNT / 2);
        set_gates(backends[i], "off");
    }
}

// In some rounds free pages go back at once, in others hardly; and huge pages come early, or never.
static void set_pace(size_t round)
{
    static const char *const dirty_limits[] = {"off", "1MiB", "64MiB", "8MiB"};
    static const char *const huge_pages[] = {"off", "2MiB", "64MiB"};
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_LIMIT", dirty_limits[round % 4]) == 0);
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_SHARE", round % 4 == 0 ? "0" : "12") == 0);
    EXPECT(hak_ctl_set("HAKMEM_HUGE_PAGES", huge_pages[round % 3]) == 0);
}

void use_everything(size_t round)
{
    struct random_stream random = {.state = round};
    use.lot.random.state = round + 1000;
    set_pace(round);
    lot_work(&use.lot, STEP_COUNT);
    use_threads(round);
    use_batches(&random);
    use_sparsely(&random);
    use_a_heap(&random);
    use_fork();
    use_a_limit();
    use_backends(&random);
    lot_work(&use.lot, STEP_COUNT);
    lot_give(&use.lot);
    EXPECT(hak_stats_json(NULL, 0) > 0);
}

struct end_figures use_everything_read_end(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    hak_thread_flush();
    (void)hak_trim(0);
    EXPECT(hak_stats_read(&stats) == 0);
    return (struct end_figures){.live_blocks = stats.live_blocks,
                                .dirty_bytes = stats.dirty_bytes,
                                .committed_bytes = stats.committed_bytes,
                                .mapped_bytes = stats.mapped_bytes,
                                .rss_bytes = process_rss_bytes(),
                                .vsz_bytes = process_vsz_bytes()};
}
