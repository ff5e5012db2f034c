// The ways of a daemon: a threaded process forks one that has threads and forks again, and a
// vforked child execs.  Nobody hangs, and blocks keep their content in every process.  The
// argument is the number of rounds.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 80,  // when no other number is given
    THREAD_COUNT = 4,
    KEPT_COUNT = 500,
    STACK_BYTES = 64 << 10,
    CHILD_SECONDS = 10,
};

static struct {
    _Atomic bool stop;
    unsigned char *kept[KEPT_COUNT];
} process;

static size_t size_of(size_t index)
{
    return 16 + index * 31 % 3000;
}

static void keep_blocks(void)
{
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        process.kept[i] = malloc(hidden(size_of(i)));
        REQUIRE(process.kept[i] != NULL);
        memset(process.kept[i], (int)i, size_of(i));
    }
}

static void check_kept_blocks(void)
{
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        EXPECT(process.kept[i][0] == (unsigned char)i);
        EXPECT(memcmp(process.kept[i], process.kept[i] + 1, size_of(i) - 1) == 0);
    }
}

static void *churn(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    while (!atomic_load_explicit(&process.stop, memory_order_relaxed)) {
        void *block = malloc(random_below(&random, 5000));
        REQUIRE(block != NULL);
        block = realloc(block, random_below(&random, 300000) + 1);
        free(block);
    }
    return NULL;
}

static void start_threads(pthread_t *threads)
{
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    }
}

static void be_the_grandchild(void)
{
    pthread_t thread;
    check_kept_blocks();
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        free(process.kept[i]);
    }
    keep_blocks();
    check_kept_blocks();
    atomic_store_explicit(&process.stop, true, memory_order_relaxed);
    REQUIRE(pthread_create(&thread, NULL, churn, (void *)7) == 0);
    (void)pthread_join(thread, NULL);
}

static void be_the_child(void)
{
    pthread_t threads[THREAD_COUNT];
    start_threads(threads);
    check_in_child("the grandchild", be_the_grandchild, CHILD_SECONDS);
    check_kept_blocks();
    atomic_store_explicit(&process.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

// Shares the parent's memory, so what it allocates is the parent's; exec forgets it.
static int exec_in_shared_memory(void *unused)
{
    char *const arguments[] = {strdup("true"), NULL};
    (void)unused;
    (void)execve("/bin/true", arguments, environ);
    _exit(CHECK_SKIPPED);
}

static void a_child_in_shared_memory_execs(void)
{
    static _Alignas(16) char stack[STACK_BYTES];
    int status = -1;
    pid_t pid =
        clone(exec_in_shared_memory, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    REQUIRE(pid > 0);
    EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_spawned_program_runs(void)
{
    char name[] = "true";
    char *const arguments[] = {name, NULL};
    int status = -1;
    pid_t pid = 0;
    REQUIRE(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0);
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    size_t round_count = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUND_COUNT;
    (void)alarm((unsigned)(100 + round_count / 4));
    keep_blocks();
    start_threads(threads);
    for (size_t i = 0; i < round_count; i++) {
        check_in_child("the child", be_the_child, 2 * CHILD_SECONDS);
        a_child_in_shared_memory_execs();
        a_spawned_program_runs();
        check_kept_blocks();
    }
    atomic_store_explicit(&process.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return check_result();
}
