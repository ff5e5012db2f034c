// SPDX-License-Identifier: MIT
#include "record_buffer.h"

#include "record_file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

// Events of one thread.  Only that thread adds; it publishes `count` with a release, which pairs with
// the acquire in record_buffer_finish.  Guarded by recorder.lock: who may have it, and writing it
// out, after which the count is 0 again.
struct record_buffer {
    struct record_buffer *next;       // of all
    struct record_buffer *next_free;  // of those whose threads have ended
    uint32_t thread;
    _Atomic size_t count;
    struct trace_event events[RECORD_EVENTS];
};

// On a page that the kernel empties in a forked child, however it was forked.
struct record_switch {
    _Atomic bool is_on;  // relaxed: it only says whether to go on
};

static struct {
    pthread_mutex_t lock;
    struct record_buffer *buffers;
    struct record_buffer *free_buffers;
    uint32_t thread_count;
    pthread_key_t key;  // its destructor finds the ends of threads
    pid_t pid;
    struct record_switch *is_recorded;  // NULL: not started; the address of `never`: it won't be
    _Atomic uint64_t moment;            // relaxed: the heap's own order is what it follows
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct record_switch never;

static __thread struct {
    struct record_buffer *buffer;
    bool is_inside;
    int end_count;  // how often its end was told
} own __attribute__((tls_model("initial-exec")));

static bool is_on(void)
{
    return recorder.is_recorded != NULL &&
           atomic_load_explicit(&recorder.is_recorded->is_on, memory_order_relaxed);
}

static void stop(void)
{
    atomic_store_explicit(&recorder.is_recorded->is_on, false, memory_order_relaxed);
}

// With the lock.
static void write_out(struct record_buffer *buffer, size_t count)
{
    const struct trace_chunk chunk = {.kind = TRACE_CHUNK_EVENTS,
                                      .thread = buffer->thread,
                                      .count = count,
                                      .events = buffer->events};
    if (count > 0 && !record_file_add(&chunk)) {
        stop();
    }
}

static void finish(enum trace_ending ending)
{
    const struct trace_chunk end = {.kind = TRACE_CHUNK_END, .ending = ending};
    for (struct record_buffer *buffer = recorder.buffers; buffer != NULL && is_on();
         buffer = buffer->next) {
        write_out(buffer, atomic_load_explicit(&buffer->count, memory_order_acquire));
    }
    if (is_on()) {
        (void)record_file_add(&end);
        stop();
    }
}

void record_buffer_finish(void)
{
    if (own.is_inside || !is_on() || getpid() != recorder.pid) {
        return;
    }
    own.is_inside = true;
    (void)pthread_mutex_lock(&recorder.lock);
    finish(TRACE_ENDED);
    (void)pthread_mutex_unlock(&recorder.lock);
    own.is_inside = false;
}

static void empty(struct record_buffer *buffer)
{
    if (is_on()) {
        write_out(buffer, atomic_load_explicit(&buffer->count, memory_order_relaxed));
        // pairs with the acquire in finish
        atomic_store_explicit(&buffer->count, 0, memory_order_release);
    }
}

// The end of a thread, once the destructors of other keys have had their say.
static void give_buffer(void *argument)
{
    struct record_buffer *buffer = argument;
    bool was_inside = own.is_inside;
    own.is_inside = true;
    if (++own.end_count < PTHREAD_DESTRUCTOR_ITERATIONS) {
        (void)pthread_setspecific(recorder.key, buffer);
        own.is_inside = was_inside;
        return;
    }
    (void)pthread_mutex_lock(&recorder.lock);
    empty(buffer);
    buffer->next_free = recorder.free_buffers;
    recorder.free_buffers = buffer;
    (void)pthread_mutex_unlock(&recorder.lock);
    own.buffer = NULL;
    own.is_inside = was_inside;
}

// At the first call, which comes before there is a second thread.
static void start(void)
{
    long page_bytes = sysconf(_SC_PAGESIZE);
    recorder.is_recorded = &never;
    void *page =
        mmap(NULL, (size_t)page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, (size_t)page_bytes, MADV_WIPEONFORK) != 0 ||
        !record_file_start() || pthread_key_create(&recorder.key, give_buffer) != 0) {
        return;
    }
    recorder.pid = getpid();
    atomic_store_explicit(&recorder.moment, 1, memory_order_relaxed);
    recorder.is_recorded = page;
    atomic_store_explicit(&recorder.is_recorded->is_on, true, memory_order_relaxed);
}

// A new buffer with a new number while there are few, else that of a thread that has ended, and
// NULL beyond all bounds.  With the lock.
static struct record_buffer *find_buffer(void)
{
    struct record_buffer *buffer = recorder.free_buffers;
    bool is_new =
        recorder.thread_count < (buffer == NULL ? TRACE_THREADS_MOST : TRACE_THREADS_FRESH);
    if (buffer != NULL) {
        recorder.free_buffers = buffer->next_free;
    } else if (is_new) {
        buffer =
            mmap(NULL, sizeof *buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffer == MAP_FAILED) {
            return NULL;
        }
        buffer->next = recorder.buffers;
        recorder.buffers = buffer;
    }
    if (buffer != NULL && is_new) {
        buffer->thread = recorder.thread_count++;
    }
    return buffer;
}

static bool take_buffer(void)
{
    (void)pthread_mutex_lock(&recorder.lock);
    own.buffer = find_buffer();
    (void)pthread_mutex_unlock(&recorder.lock);
    return own.buffer != NULL && pthread_setspecific(recorder.key, own.buffer) == 0;
}

bool record_buffer_enter(void)
{
    if (own.is_inside) {
        return false;
    }
    own.is_inside = true;
    if (recorder.is_recorded == NULL && environ != NULL) {
        start();
    }
    bool is_entered = is_on() && (own.buffer != NULL || take_buffer());
    own.is_inside = is_entered;
    return is_entered;
}

void record_buffer_leave(void)
{
    own.is_inside = false;
}

uint64_t record_buffer_moment(void)
{
    return atomic_fetch_add_explicit(&recorder.moment, 1, memory_order_relaxed);
}

// Also where the moments have run out: nothing of this thread is added then.
static void make_room(uint64_t moment)
{
    int error = errno;
    (void)pthread_mutex_lock(&recorder.lock);
    empty(own.buffer);
    if (moment >= TRACE_MOMENTS_MOST) {
        finish(TRACE_FULL);
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    errno = error;
}

void record_buffer_add(struct trace_event event)
{
    struct record_buffer *buffer = own.buffer;
    size_t count = atomic_load_explicit(&buffer->count, memory_order_relaxed);
    event.moment = record_buffer_moment();
    if (count == RECORD_EVENTS || event.moment >= TRACE_MOMENTS_MOST) {
        make_room(event.moment);
        count = 0;
    }
    if (!is_on()) {
        return;
    }
    buffer->events[count] = event;
    // pairs with the acquire in finish
    atomic_store_explicit(&buffer->count, count + 1, memory_order_release);
}
