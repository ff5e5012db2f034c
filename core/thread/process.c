// SPDX-License-Identifier: MIT
#include "thread/process.h"

#include "harden/harden_mode.h"
#include "os/os_cgroup.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "policy/gates.h"
#include "stats/budget.h"
#include "thread/batch.h"
#include "thread/bin.h"
#include "thread/control.h"
#include "thread/heap_registry.h"
#include "thread/quarantine.h"
#include "thread/remote_free.h"

#include <pthread.h>
#include <string.h>

// Guarded by process.lock, except the flags: each is stored with release after what it announces
// and loaded with acquire.
static struct {
    struct lock lock;
    struct lock settings_lock;  // see process_settings_lock; taken before `lock`
    _Atomic bool is_started;    // the shared heaps exist
    _Atomic bool is_settled;    // the gates have been read
    _Atomic bool is_watching;   // fork handlers are registered
    pthread_key_t exit_key;
    bool has_exit_key;
} process;

static void say_problem(const char *sentence, void *context)
{
    (void)context;
    os_write_error("hakmem: ", 8);
    os_write_error(sentence, strlen(sentence));
    os_write_error("\n", 1);
}

void process_settings_lock(void)
{
    lock_take(&process.settings_lock);
}

void process_settings_unlock(void)
{
    lock_give(&process.settings_lock);
}

void process_apply_limit(void)
{
    uint64_t group_limit = gate_live(&gates.limit) == GATE_AUTO ? os_cgroup_memory_limit() : 0;
    process_settings_lock();
    uint64_t limit = gate_live(&gates.limit);
    atomic_store_explicit(&budget.limit_bytes, limit == GATE_AUTO ? group_limit : limit,
                          memory_order_relaxed);
    process_settings_unlock();
}

static void init_routes(void)
{
    route_table_init();
    route_snapshot_take(&route_at_start);
    bin_init_bounds();
}

// Reads the gates once the environment is there.  What takes files or speaks is done without the lock.
static void settle(char *const *environment)
{
    static char *const nothing[] = {NULL};
    // Pairs with the release store below.
    if (environment == NULL || atomic_load_explicit(&process.is_settled, memory_order_acquire)) {
        return;
    }
    // Programs that run with more rights than their caller ignore the caller's environment.
    environment = os_is_secure_execution() ? nothing : environment;
    struct gates read;
    gates_read(&read, environment, NULL, NULL);
    lock_take(&process.lock);
    bool is_first = !atomic_load_explicit(&process.is_settled, memory_order_relaxed);
    if (is_first) {
        gates = read;
        init_routes();
        harden_settle(gates.hardened);
        // Pairs with the acquire loads here and in process_settle.
        atomic_store_explicit(&process.is_settled, true, memory_order_release);
    }
    lock_give(&process.lock);
    if (is_first && gates.limit != 0) {
        process_apply_limit();
    }
    if (is_first) {
        control_start();
    }
    if (is_first && gates.verbose) {
        static struct gates again;
        gates_read(&again, environment, say_problem, NULL);
    }
}

static void thread_is_ending(void *value)
{
    struct heap *heap = value;
    // Destructors that run later, of this round or another, are served by heap_exit.
    thread_heap = &heap_after_exit;
    heap_flush(heap);
    learner_forget(heap);
    batch_give_spare(heap);
    heap_registry_park(heap);
    // What was posted between the flush and the parking; later posters see that it is parked.
    remote_free_empty_mailbox(heap, NULL);
    heap_purge_if_due(heap);
}

// Not under the lock: the call can be interposed.  A key too many, of a thread that came second, is
// deleted.
static void make_exit_key(void)
{
    pthread_key_t key;
    if (pthread_key_create(&key, thread_is_ending) != 0) {
        return;
    }
    lock_take(&process.lock);
    bool is_first = !process.has_exit_key;
    if (is_first) {
        process.exit_key = key;
        process.has_exit_key = true;
    }
    lock_give(&process.lock);
    if (!is_first) {
        (void)pthread_key_delete(key);
    }
}

bool process_start(void)
{
    // Pairs with the release store below.
    if (likely(atomic_load_explicit(&process.is_started, memory_order_acquire))) {
        return true;
    }
    // What libc is asked later under locks: it may be interposed, and then allocate.
    (void)os_page_bytes();
    (void)os_random_seed();
    settle(os_environment());
    make_exit_key();
    lock_take(&process.lock);
    if (harden.key == 0) {
        harden_init(os_random_seed());
    }
    if (!atomic_load_explicit(&process.is_settled, memory_order_relaxed)) {
        init_routes();
    }
    if (!atomic_load_explicit(&process.is_started, memory_order_relaxed)) {
        heap_pool = heap_pool != NULL ? heap_pool : heap_registry_take_shared();
        heap_exit = heap_exit != NULL ? heap_exit : heap_registry_take_shared();
        if (heap_pool != NULL && heap_exit != NULL) {
            // Pairs with the acquire load above.
            atomic_store_explicit(&process.is_started, true, memory_order_release);
        }
    }
    lock_give(&process.lock);
    return atomic_load_explicit(&process.is_started, memory_order_acquire);
}

void process_settle(struct heap *heap)
{
    // Pairs with the release store in settle.
    if (unlikely(!atomic_load_explicit(&process.is_settled, memory_order_acquire))) {
        settle(os_environment());
        // Acquire again: without an environment settle has looked at nothing.
        if (!atomic_load_explicit(&process.is_settled, memory_order_acquire)) {
            return;
        }
    }
    heap_draw_guard(heap);
    if (gates.hardened) {
        quarantine_make(heap);
        heap->front = FRONT_HARDENED;
        heap->match_tag = MATCH_NOTHING;
    } else if (gated_front_is_wanted()) {
        heap->front = FRONT_GATED;
        heap->match_tag = MATCH_NOTHING;
    } else {
        heap->front = FRONT_FUSED;
        heap->fast_limit = TINY_BYTES_MOST + 1;
    }
}

static void before_fork(void)
{
    process_settings_lock();
    lock_take(&process.lock);
    heap_registry_lock_all();
}

static void after_fork_in_parent(void)
{
    heap_registry_unlock_all();
    lock_give(&process.lock);
    process_settings_unlock();
}

static void after_fork_in_child(void)
{
    heap_registry_unlock_all();
    lock_give(&process.lock);
    process_settings_unlock();
    control_after_fork_in_child();
    heap_registry_after_fork_in_child(thread_heap);
}

// Both calls may allocate, so this thread has its heap and no lock is held.  Where there was no memory for
// the handlers, the next thread tries again: a process of one thread needs none.
void process_watch_thread(struct heap *heap)
{
    if (!atomic_exchange_explicit(&process.is_watching, true, memory_order_relaxed) &&
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
        atomic_store_explicit(&process.is_watching, false, memory_order_relaxed);
    }
    if (process.has_exit_key) {
        (void)pthread_setspecific(process.exit_key, heap);
    }
}

// At the latest here the environment is known: the loader hands it to constructors.  A program
// that has emptied its environ by then is settled too.
__attribute__((constructor)) static void settle_at_load(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    static char *const nothing[] = {NULL};
    settle(environment != NULL ? environment : nothing);
}
