// SPDX-License-Identifier: MIT
#include "bench_support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint32_t bench_random_seed(uint64_t seed, size_t index)
{
    // The finaliser of a 64-bit hash: neighbouring indexes give unrelated states.
    uint64_t mixed = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    mixed ^= mixed >> 32;
    return (uint32_t)mixed | 1;
}

void bench_shuffle(void **items, size_t count, uint32_t seed)
{
    uint32_t random = seed;
    for (size_t left = count; left > 1; left--) {
        random = bench_random_next(random);
        size_t chosen = random % left;
        void *item = items[left - 1];
        items[left - 1] = items[chosen];
        items[chosen] = item;
    }
}

uint64_t bench_now_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        bench_die("reading the clock");
    }
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void bench_sleep_seconds(uint64_t seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

// Reads a file of /proc whole.  stdio would allocate its buffer on the heap under test.
static void read_proc_file(const char *path, char *text, size_t text_bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        bench_die(path);
    }
    size_t length = 0;
    ssize_t got = 0;
    while ((got = read(file, text + length, text_bytes - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(file);
}

size_t bench_rss_bytes(void)
{
    char text[256];
    read_proc_file("/proc/self/statm", text, sizeof(text));
    char *second_field = strchr(text, ' ');
    if (second_field == NULL) {
        bench_die("reading /proc/self/statm");
    }
    return strtoull(second_field, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

size_t bench_peak_rss_bytes(void)
{
    static const char label[] = "VmHWM:";
    char text[8192];
    read_proc_file("/proc/self/status", text, sizeof(text));
    char *line = strstr(text, label);
    if (line == NULL) {
        bench_die("reading VmHWM from /proc/self/status");
    }
    return strtoull(line + sizeof(label) - 1, NULL, 10) * 1024;
}

void *bench_table_make(size_t count, size_t item_bytes)
{
    void *table = mmap(NULL, count * item_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (table == MAP_FAILED) {
        bench_die("mapping a table");
    }
    return table;
}

void bench_table_drop(void *table, size_t count, size_t item_bytes)
{
    if (munmap(table, count * item_bytes) != 0) {
        bench_die("unmapping a table");
    }
}

void bench_print(FILE *stream, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vfprintf(stream, format, values);
    va_end(values);
    if (length < 0) {
        exit(1);
    }
}

void bench_format(char *text, size_t text_bytes, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, text_bytes, format, values);
    va_end(values);
    if (length < 0) {
        exit(1);
    }
}

void bench_die(const char *what)
{
    bench_print(stderr, "%s: %s failed: %s\n", program_invocation_short_name, what,
                strerror(errno));
    exit(1);
}

void *bench_take(size_t bytes)
{
    char *block = malloc(bytes);
    if (block == NULL) {
        bench_die("malloc");
    }
    block[0] = 1;
    return block;
}

pthread_t bench_thread_make(void *(*run)(void *argument), void *argument)
{
    pthread_t handle;
    errno = pthread_create(&handle, NULL, run, argument);
    if (errno != 0) {
        bench_die("making a thread");
    }
    return handle;
}

struct bench_thread {
    pthread_t handle;
    size_t index;
    bench_work *work;
    void *context;
    pthread_barrier_t *start;
    uint64_t start_ns;
    uint64_t end_ns;
};

// Each thread reads the clock itself: on a busy machine the main thread would read it late.
static void *run_one_thread(void *argument)
{
    struct bench_thread *thread = argument;
    pthread_barrier_wait(thread->start);
    thread->start_ns = bench_now_ns();
    thread->work(thread->index, thread->context);
    thread->end_ns = bench_now_ns();
    return NULL;
}

static uint64_t run_on_this_thread(bench_work *work, void *context)
{
    uint64_t start_ns = bench_now_ns();
    work(0, context);
    return bench_now_ns() - start_ns;
}

uint64_t bench_threads_run(size_t thread_count, bench_work *work, void *context)
{
    if (thread_count == 1) {
        return run_on_this_thread(work, context);
    }
    struct bench_thread *threads = bench_table_make(thread_count, sizeof(threads[0]));
    pthread_barrier_t start;
    if (pthread_barrier_init(&start, NULL, (unsigned)thread_count) != 0) {
        bench_die("making a barrier");
    }
    for (size_t index = 0; index < thread_count; index++) {
        struct bench_thread *thread = &threads[index];
        *thread = (struct bench_thread){
            .index = index, .work = work, .context = context, .start = &start};
        thread->handle = bench_thread_make(run_one_thread, thread);
    }
    uint64_t first_start_ns = UINT64_MAX;
    uint64_t last_end_ns = 0;
    for (size_t index = 0; index < thread_count; index++) {
        struct bench_thread *thread = &threads[index];
        pthread_join(thread->handle, NULL);
        first_start_ns = thread->start_ns < first_start_ns ? thread->start_ns : first_start_ns;
        last_end_ns = thread->end_ns > last_end_ns ? thread->end_ns : last_end_ns;
    }
    pthread_barrier_destroy(&start);
    bench_table_drop(threads, thread_count, sizeof(threads[0]));
    return last_end_ns - first_start_ns;
}
