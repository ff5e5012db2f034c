// Tasks that move between worker threads, as the runtimes of asynchronous code move them.
// SPDX-License-Identifier: MIT
//
// A task is made on one worker.  At each step it drops the buffer that an earlier worker allocated,
// allocates the next, and goes to a worker drawn at random; the one that runs its last step frees
// all of it.  Workers hand tasks over in chains, one lock for each chain, so that the queues cost
// little beside the allocator.
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench_main.h"
#include "bench_support.h"

enum {
    THREADS,
    TASKS,
    STEPS,
    ALIVE,
    SEED,
    ARGUMENT_COUNT
};
enum {
    MAX_THREADS = 64,
    SPAWN_COUNT = 32,  // tasks a worker makes before it looks at its inbox again
};

static struct bench_argument arguments[ARGUMENT_COUNT] = {
    [THREADS] = {.name = "threads",
                 .help = "worker threads",
                 .value = 2,
                 .minimum = 1,
                 .maximum = MAX_THREADS},
    [TASKS] = {.name = "tasks",
               .help = "tasks in all",
               .value = 1000000,
               .minimum = 1,
               .maximum = UINT64_C(1) << 32},
    [STEPS] = {.name = "steps",
               .help = "steps of a task, a buffer each",
               .value = 4,
               .minimum = 1,
               .maximum = 1000},
    [ALIVE] = {.name = "alive",
               .help = "tasks of each worker alive at a time",
               .value = 1000,
               .minimum = SPAWN_COUNT,
               .maximum = 1 << 20},
    [SEED] = BENCH_SEED_ROW(1),
};

struct bench_program bench_program = {
    .name = "bench_async_pool",
    .summary = "Tasks move between workers; each is freed by whichever runs its last step.",
    .arguments = arguments,
    .argument_count = ARGUMENT_COUNT,
};

struct task {
    struct task *next;
    void *buffer;  // allocated by the worker of the step before
    uint64_t steps_left;
};

struct chain {
    struct task *first;
    struct task *last;
};

struct worker {
    alignas(BENCH_CACHE_LINE_BYTES) pthread_mutex_t lock;
    struct chain inbox;  // guarded by lock
    alignas(BENCH_CACHE_LINE_BYTES) struct chain outgoing[MAX_THREADS];
    uint32_t random;
    size_t tasks_to_make;
};

struct pool {
    struct worker *workers;
    size_t worker_count;
    _Atomic size_t unfinished_count;  // relaxed: nothing is published through it
    _Atomic size_t alive_count;       // relaxed likewise
};

static void chain_append(struct chain *chain, struct chain added)
{
    if (chain->first == NULL) {
        *chain = added;
    } else {
        chain->last->next = added.first;
        chain->last = added.last;
    }
}

static struct task *task_make(struct worker *worker)
{
    worker->random = bench_random_next(worker->random);
    struct task *task = bench_take(sizeof(*task) + (worker->random & 255));
    *task = (struct task){.steps_left = arguments[STEPS].value};
    return task;
}

// Runs one step.  Returns false when it was the last and the task is gone.
static bool task_step(struct worker *worker, struct task *task)
{
    free(task->buffer);
    if (task->steps_left == 0) {
        free(task);
        return false;
    }
    task->steps_left--;
    worker->random = bench_random_next(worker->random);
    task->buffer = bench_take(16 + (worker->random & 1023));
    return true;
}

// Runs a step of each task and puts those that go on in the outgoing chains.  Returns how many ended.
static size_t run_tasks(struct pool *pool, struct worker *worker, struct task *task)
{
    size_t ended_count = 0;
    while (task != NULL) {
        struct task *next = task->next;
        if (task_step(worker, task)) {
            task->next = NULL;
            size_t target = (worker->random >> 16) % pool->worker_count;
            chain_append(&worker->outgoing[target], (struct chain){task, task});
        } else {
            ended_count++;
        }
        task = next;
    }
    return ended_count;
}

static struct task *take_inbox(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct task *tasks = worker->inbox.first;
    worker->inbox = (struct chain){0};
    pthread_mutex_unlock(&worker->lock);
    return tasks;
}

static void send_outgoing(struct pool *pool, struct worker *worker)
{
    for (size_t target = 0; target < pool->worker_count; target++) {
        struct chain *outgoing = &worker->outgoing[target];
        if (outgoing->first != NULL) {
            struct worker *receiver = &pool->workers[target];
            pthread_mutex_lock(&receiver->lock);
            chain_append(&receiver->inbox, *outgoing);
            pthread_mutex_unlock(&receiver->lock);
            *outgoing = (struct chain){0};
        }
    }
}

// Makes tasks while the pool has room for them, and returns them as a list.
static struct task *make_tasks(struct pool *pool, struct worker *worker)
{
    size_t most_alive = arguments[ALIVE].value * pool->worker_count;
    size_t count = worker->tasks_to_make < SPAWN_COUNT ? worker->tasks_to_make : SPAWN_COUNT;
    if (count == 0 ||
        atomic_load_explicit(&pool->alive_count, memory_order_relaxed) + count > most_alive) {
        return NULL;
    }
    struct task *list = NULL;
    for (size_t index = 0; index < count; index++) {
        struct task *task = task_make(worker);
        task->next = list;
        list = task;
    }
    worker->tasks_to_make -= count;
    atomic_fetch_add_explicit(&pool->alive_count, count, memory_order_relaxed);
    return list;
}

static void work(size_t index, void *context)
{
    struct pool *pool = context;
    struct worker *worker = &pool->workers[index];
    while (atomic_load_explicit(&pool->unfinished_count, memory_order_relaxed) > 0) {
        struct task *made = make_tasks(pool, worker);
        struct task *received = take_inbox(worker);
        if (made == NULL && received == NULL) {
            sched_yield();
            continue;
        }
        size_t ended_count = run_tasks(pool, worker, made) + run_tasks(pool, worker, received);
        send_outgoing(pool, worker);
        if (ended_count > 0) {
            atomic_fetch_sub_explicit(&pool->alive_count, ended_count, memory_order_relaxed);
            atomic_fetch_sub_explicit(&pool->unfinished_count, ended_count, memory_order_relaxed);
        }
    }
}

static struct pool pool_make(void)
{
    size_t worker_count = arguments[THREADS].value;
    size_t share = arguments[TASKS].value / worker_count;
    struct pool pool = {
        .workers = bench_table_make(worker_count, sizeof(pool.workers[0])),
        .worker_count = worker_count,
        .unfinished_count = share * worker_count,
    };
    for (size_t index = 0; index < worker_count; index++) {
        struct worker *worker = &pool.workers[index];
        pthread_mutex_init(&worker->lock, NULL);
        worker->random = bench_random_seed(arguments[SEED].value, index);
        worker->tasks_to_make = share;
    }
    return pool;
}

struct bench_result bench_run(void)
{
    if (arguments[TASKS].value < arguments[THREADS].value) {
        bench_arguments_refuse(&bench_program, "There must be at least as many tasks as threads.");
    }
    struct pool pool = pool_make();
    uint64_t task_count = pool.unfinished_count;
    return (struct bench_result){
        .operations = 2 * task_count * (arguments[STEPS].value + 1),
        .elapsed_ns = bench_threads_run(pool.worker_count, work, &pool),
        .thread_count = pool.worker_count,
    };
}
