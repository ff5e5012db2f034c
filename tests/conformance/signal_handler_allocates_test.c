// A signal handler that allocates breaks the rules of C, and may break into a malloc of its own
// thread.  It then works, or the process aborts with one line; it never hangs.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "process_memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TRIAL_COUNT = 12,  // of each kind
    THREAD_COUNT = 3,
    ROUND_COUNT = 100000,
    TICK_US = 50,
    LOOK_MS = 5,
    HANG_MS = 1000,
    LINE_BYTES = 512,
};

struct trial {
    size_t bytes;  // of the blocks of the threads and of the handler
    size_t thread_count;
    bool is_profiled;  // SIGPROF by processor time, as profilers have it; else SIGALRM
};

// progress is shared with the child, which counts its rounds there; relaxed, as it orders nothing.
static struct {
    struct trial trial;
    _Atomic size_t *progress;
} stage;

static void allocate_in_handler(int signal_number)
{
    (void)signal_number;
    free(hidden_ptr(malloc(hidden(stage.trial.bytes))));
}

static void *churn(void *unused)
{
    for (size_t i = 0; i < ROUND_COUNT / stage.trial.thread_count; i++) {
        free(hidden_ptr(malloc(hidden(stage.trial.bytes))));
        atomic_fetch_add_explicit(stage.progress, 1, memory_order_relaxed);
    }
    return unused;
}

static void churn_under_signals(void)
{
    pthread_t threads[THREAD_COUNT];
    struct sigaction action = {.sa_handler = allocate_in_handler};
    struct itimerval tick = {{0, TICK_US}, {0, TICK_US}};
    REQUIRE(sigaction(stage.trial.is_profiled ? SIGPROF : SIGALRM, &action, NULL) == 0);
    for (size_t i = 1; i < stage.trial.thread_count; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    }
    REQUIRE(setitimer(stage.trial.is_profiled ? ITIMER_PROF : ITIMER_REAL, &tick, NULL) == 0);
    (void)churn(NULL);
    for (size_t i = 1; i < stage.trial.thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    _exit(check_result());
}

// False when the child has made no progress for HANG_MS; it is then killed.
static bool await_child(pid_t pid, int *status)
{
    size_t seen = 0;
    for (unsigned idle_ms = 0; idle_ms < HANG_MS; idle_ms += LOOK_MS) {
        if (waitpid(pid, status, WNOHANG) == pid) {
            return true;
        }
        sleep_ms(LOOK_MS);
        size_t progress = atomic_load_explicit(stage.progress, memory_order_relaxed);
        idle_ms = progress != seen ? 0 : idle_ms;
        seen = progress;
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, status, 0);
    return false;
}

static void expect_one_line(int pipe_end)
{
    char line[LINE_BYTES] = {0};
    ssize_t length = read(pipe_end, line, sizeof(line) - 1);
    EXPECT(length > 0 && strncmp(line, "hakmem: ", 8) == 0);
    EXPECT(length > 0 && strchr(line, '\n') == line + length - 1);
}

static void try_once(struct trial trial)
{
    int status = 0;
    int ends[2];
    stage.trial = trial;
    REQUIRE(pipe(ends) == 0);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        churn_under_signals();
    }
    (void)close(ends[1]);
    if (EXPECT(await_child(pid, &status))) {
        bool is_abort = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        EXPECT(is_abort || status == 0);
        if (is_abort) {
            expect_one_line(ends[0]);
        }
    }
    (void)close(ends[0]);
}

int main(void)
{
    (void)alarm(100);
    stage.progress = mmap(NULL, sizeof(*stage.progress), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(stage.progress != MAP_FAILED);
    for (int i = 0; i < TRIAL_COUNT && check_result() == 0; i++) {
        bool is_profiled = i % 2 != 0;
        try_once((struct trial){300000, 1, is_profiled});
        try_once((struct trial){300000, THREAD_COUNT, is_profiled});
        try_once((struct trial){40000, THREAD_COUNT, is_profiled});
        try_once((struct trial){100, THREAD_COUNT, is_profiled});
    }
    return check_result();
}
