// A fork takes all locks of the allocator, of every heap: what that costs with hundreds of heaps, beside
// libc's own malloc.  The times are printed for people and not judged, as other work on the machine changes
// them.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "run_self.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_COUNT = 300,
    FORK_COUNT = 60,
    SIZE_COUNT = 20,
    STACK_BYTES = 64 << 10,
    NS_PER_SECOND = 1000000000,
};

static struct {
    pthread_barrier_t is_idle;
    size_t fork_ns[FORK_COUNT];
} stage;

// Leaves free and used blocks of many sizes in the thread's heap.
static void *allocate_and_idle(void *unused)
{
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        void *block = malloc(hidden(16 + i * i * 10));
        REQUIRE(block != NULL);
        free(malloc(hidden(16 + i * i * 10)));
    }
    (void)pthread_barrier_wait(&stage.is_idle);
    for (;;) {
        (void)pause();
    }
    return unused;
}

static size_t now_ns(void)
{
    struct timespec now;
    REQUIRE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (size_t)now.tv_sec * NS_PER_SECOND + (size_t)now.tv_nsec;
}

// The time until fork returns in the parent; the child allocates.
static size_t time_fork(void)
{
    int status = -1;
    size_t start_ns = now_ns();
    pid_t pid = fork();
    size_t fork_ns = now_ns() - start_ns;
    REQUIRE(pid >= 0);
    if (pid == 0) {
        (void)alarm(10);
        for (size_t bytes = 1; bytes < 1 << 20; bytes *= 4) {
            void *block = malloc(hidden(bytes));
            REQUIRE(block != NULL);
            free(block);
        }
        _exit(check_result());
    }
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
    return fork_ns;
}

static int compare_sizes(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

// Prints the median time of a fork in nanoseconds.
static void measure(void)
{
    pthread_t thread;
    pthread_attr_t small_stack;
    REQUIRE(pthread_barrier_init(&stage.is_idle, NULL, IDLE_COUNT + 1) == 0);
    REQUIRE(pthread_attr_init(&small_stack) == 0);
    REQUIRE(pthread_attr_setstacksize(&small_stack, STACK_BYTES) == 0);
    for (size_t i = 0; i < IDLE_COUNT; i++) {
        REQUIRE(pthread_create(&thread, &small_stack, allocate_and_idle, NULL) == 0);
    }
    (void)pthread_barrier_wait(&stage.is_idle);
    for (size_t i = 0; i < FORK_COUNT; i++) {
        stage.fork_ns[i] = time_fork();
    }
    qsort(stage.fork_ns, FORK_COUNT, sizeof stage.fork_ns[0], compare_sizes);
    (void)printf("%zu\n", stage.fork_ns[FORK_COUNT / 2]);
}

int main(int argc, char **argv)
{
    (void)alarm(60);
    if (argc > 1) {
        measure();
        (void)fflush(stdout);
        _exit(check_result());
    }
    size_t own_ns = run_self_for_number(argv[0], "measure", "");
    size_t libc_ns = run_self_for_number(argv[0], "measure", "unset HAK_TEST_PRELOAD LD_PRELOAD;");
    EXPECT(own_ns > 0 && libc_ns > 0);
    (void)printf("a fork with %d idle heaps: %zu us, with libc's malloc %zu us, ratio %.2f\n",
                 IDLE_COUNT, own_ns / 1000, libc_ns / 1000, (double)own_ns / (double)libc_ns);
    return check_result();
}
