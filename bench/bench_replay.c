// The allocations of a recorded program, replayed.  `hakmem replay` runs it, on a plan that it makes of
// a trace; see trace/replay_plan.h.
// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench_main.h"
#include "bench_support.h"
#include "trace/replay_plan.h"

enum {
    PLAN,
    TIMES,
    TOUCH,
    ARGUMENT_COUNT
};

enum {
    TOUCH_PAGES,
    TOUCH_FIRST,
    TOUCH_NONE
};

enum {
    STEPS_AT_HAND = 2048,  // that a thread reads at once
    SPINS_MOST = 64,
    YIELDS_MOST = 1000,
    NAP_NS = 50000,
};

static const char *const touches[] = {"pages", "first", "none", NULL};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [PLAN] = {.name = "plan", .help = "a file that hakmem replay --plan made", .kind = BENCH_FILE},
    [TIMES] = {.name = "--times",
               .help = "how often all of it is done; what is left is freed in between",
               .value = 1,
               .minimum = 1,
               .maximum = 1000000},
    [TOUCH] = {.name = "--touch",
               .help =
                   "what is written of a new block: the first byte of each page, the first byte",
               .kind = BENCH_CHOICE,
               .choices = touches},
};

struct bench_program bench_program = {
    .name = "bench_replay",
    .summary = "Does what a recorded program did with its heap, in as many threads.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct replay_thread {
    struct plan_thread plan;
    // The stretch that it is in, or waits to enter.  Released when it has left the ones before;
    // pairs with the acquire in wait_for_others.
    alignas(BENCH_CACHE_LINE_BYTES) _Atomic uint32_t stretch;
    void **places;
    struct plan_step *steps;
};

static struct {
    int file;
    struct plan_head head;
    struct replay_thread *threads;
    // Released by who bore the block, acquired by who frees it.
    _Atomic(void *) *shared;
    _Atomic uint32_t ended_count;  // released by the end of a thread, acquired by the first
} replay;

static _Noreturn void refuse(void)
{
    bench_arguments_refuse(&bench_program, "plan must be a file that hakmem replay --plan made.");
}

static void read_at(void *bytes, size_t byte_count, uint64_t offset)
{
    ssize_t got = pread(replay.file, bytes, byte_count, (off_t)offset);
    if (got != (ssize_t)byte_count) {
        refuse();
    }
}

// Longer and longer, as others may need this core.
static void wait_a_little(unsigned *wait_count)
{
    (*wait_count)++;
    if (*wait_count > SPINS_MOST + YIELDS_MOST) {
        const struct timespec nap = {.tv_nsec = NAP_NS};
        (void)nanosleep(&nap, NULL);
    } else if (*wait_count > SPINS_MOST) {
        (void)sched_yield();
    }
}

static void wait_for_others(uint32_t stretch)
{
    unsigned wait_count = 0;
    for (uint32_t index = 0; index < replay.head.thread_count; index++) {
        while (atomic_load_explicit(&replay.threads[index].stretch, memory_order_acquire) + 1 <
               stretch) {
            wait_a_little(&wait_count);
        }
    }
}

static void enter_stretch(struct replay_thread *thread, uint32_t stretch)
{
    atomic_store_explicit(&thread->stretch, stretch, memory_order_release);
    wait_for_others(stretch);
}

static bool is_shared(uint32_t place)
{
    bool is_shared = (place & PLAN_SHARED) != 0;
    if (is_shared && (place & ~PLAN_SHARED) >= replay.head.shared_count) {
        refuse();
    }
    return is_shared;
}

static void *take_shared(_Atomic(void *) *shared)
{
    void *block = NULL;
    unsigned wait_count = 0;
    while ((block = atomic_load_explicit(shared, memory_order_acquire)) == NULL) {
        wait_a_little(&wait_count);
    }
    // nobody else looks at it any more
    atomic_store_explicit(shared, NULL, memory_order_relaxed);
    return block;
}

static void *take_place(struct replay_thread *thread, uint32_t place)
{
    if (place == PLAN_NO_PLACE) {
        return NULL;
    }
    if (is_shared(place)) {
        return take_shared(&replay.shared[place & ~PLAN_SHARED]);
    }
    if (place >= thread->plan.place_count) {
        refuse();
    }
    void *block = thread->places[place];
    thread->places[place] = NULL;
    return block;
}

static void put_place(struct replay_thread *thread, uint32_t place, void *block)
{
    if (is_shared(place)) {
        atomic_store_explicit(&replay.shared[place & ~PLAN_SHARED], block, memory_order_release);
        return;
    }
    if (place >= thread->plan.place_count) {
        refuse();
    }
    thread->places[place] = block;
}

static void touch(char *block, uint64_t bytes)
{
    size_t step_bytes = BENCH_PAGE_BYTES;
    if (arguments[TOUCH].value == TOUCH_NONE) {
        return;
    }
    if (arguments[TOUCH].value == TOUCH_FIRST) {
        bytes = bytes > 0;
    }
    for (uint64_t offset = 0; offset < bytes; offset += step_bytes) {
        block[offset] = 1;
    }
}

static void *allocate(struct replay_thread *thread, const struct plan_step *step)
{
    size_t bytes = plan_bytes(step);
    void *block = NULL;
    switch (plan_deed(step)) {
    case TRACE_MALLOC:
        return malloc(bytes);
    case TRACE_CALLOC:
        return calloc(1, bytes);
    case TRACE_REALLOC:
        return realloc(take_place(thread, step->old_place), bytes);
    case TRACE_MEMALIGN:
        return memalign(plan_align(step), bytes);
    case TRACE_ALIGNED_ALLOC:
        return aligned_alloc(plan_align(step), bytes);
    case TRACE_POSIX_MEMALIGN:
        errno = posix_memalign(&block, plan_align(step), bytes);
        return block;
    default:
        refuse();
    }
}

static void *run_thread(void *argument);

static void start_thread(uint32_t index)
{
    pthread_attr_t attributes;
    pthread_t handle;
    if (index >= replay.head.thread_count) {
        refuse();
    }
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    errno = pthread_create(&handle, &attributes, run_thread, &replay.threads[index]);
    if (errno != 0) {
        bench_die("making a thread");
    }
    (void)pthread_attr_destroy(&attributes);
}

static void do_step(struct replay_thread *thread, const struct plan_step *step)
{
    switch (plan_deed(step)) {
    case TRACE_FREE:
        free(take_place(thread, step->place));
        return;
    case PLAN_START:
        start_thread(step->place);
        return;
    case PLAN_ENTER:
        enter_stretch(thread, step->place);
        return;
    default:
        break;
    }
    char *block = allocate(thread, step);
    if (block == NULL) {
        bench_die("an allocation of the trace");
    }
    touch(block, plan_bytes(step));
    put_place(thread, step->place, block);
}

static void run_steps(struct replay_thread *thread)
{
    uint64_t start = sizeof replay.head + replay.head.thread_count * sizeof thread->plan;
    uint64_t done_count = 0;
    while (done_count < thread->plan.step_count) {
        uint64_t left_count = thread->plan.step_count - done_count;
        size_t count = left_count < STEPS_AT_HAND ? left_count : STEPS_AT_HAND;
        uint64_t step = thread->plan.first_step + done_count;
        read_at(thread->steps, count * sizeof thread->steps[0],
                start + step * sizeof thread->steps[0]);
        for (size_t i = 0; i < count; i++) {
            do_step(thread, &thread->steps[i]);
        }
        done_count += count;
    }
    atomic_store_explicit(&thread->stretch, UINT32_MAX - 1, memory_order_release);
}

static void *run_thread(void *argument)
{
    run_steps(argument);
    // pairs with the acquire in bench_run
    atomic_fetch_add_explicit(&replay.ended_count, 1, memory_order_release);
    return NULL;
}

static void read_head(void)
{
    replay.file = open(arguments[PLAN].text, O_RDONLY | O_CLOEXEC);
    if (replay.file < 0) {
        bench_die(arguments[PLAN].text);
    }
    read_at(&replay.head, sizeof replay.head, 0);
    if (replay.head.magic != PLAN_MAGIC || replay.head.thread_count == 0 ||
        replay.head.thread_count > TRACE_THREADS_MOST ||
        replay.head.shared_count > TRACE_MOMENTS_MOST) {
        refuse();
    }
}

static void make_thread(struct replay_thread *thread, size_t index)
{
    read_at(&thread->plan, sizeof thread->plan, sizeof replay.head + index * sizeof thread->plan);
    if (thread->plan.place_count > TRACE_MOMENTS_MOST) {
        refuse();
    }
    thread->places = bench_table_make(thread->plan.place_count + 1, sizeof thread->places[0]);
    thread->steps = bench_table_make(STEPS_AT_HAND, sizeof thread->steps[0]);
}

static void run_once(void)
{
    unsigned wait_count = 0;
    for (size_t index = 0; index < replay.head.thread_count; index++) {
        struct replay_thread *thread = &replay.threads[index];
        // seen by the threads that are made after this
        atomic_store_explicit(&thread->stretch, thread->plan.first_stretch, memory_order_relaxed);
    }
    atomic_store_explicit(&replay.ended_count, 0, memory_order_relaxed);
    run_steps(&replay.threads[0]);
    while (atomic_load_explicit(&replay.ended_count, memory_order_acquire) + 1 <
           replay.head.thread_count) {
        wait_a_little(&wait_count);
    }
}

// What the program had when it ended.
static uint64_t free_rest(void)
{
    uint64_t free_count = 0;
    for (size_t index = 0; index < replay.head.thread_count; index++) {
        struct replay_thread *thread = &replay.threads[index];
        for (uint32_t place = 0; place < thread->plan.place_count; place++) {
            free_count += thread->places[place] != NULL;
            free(take_place(thread, place));
        }
    }
    return free_count;
}

struct bench_result bench_run(void)
{
    if (arguments[PLAN].text == NULL) {
        refuse();
    }
    read_head();
    size_t thread_count = replay.head.thread_count;
    replay.threads = bench_table_make(thread_count, sizeof replay.threads[0]);
    replay.shared = bench_table_make(replay.head.shared_count + 1, sizeof replay.shared[0]);
    for (size_t index = 0; index < thread_count; index++) {
        make_thread(&replay.threads[index], index);
    }
    uint64_t operation_count = arguments[TIMES].value * replay.head.operation_count;
    uint64_t start_ns = bench_now_ns();
    run_once();
    for (uint64_t done_count = 1; done_count < arguments[TIMES].value; done_count++) {
        operation_count += free_rest();
        run_once();
    }
    return (struct bench_result){
        .operations = operation_count,
        .elapsed_ns = bench_now_ns() - start_ns,
        .thread_count = thread_count,
    };
}
