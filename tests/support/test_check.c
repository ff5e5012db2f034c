// Checks for one-program tests; see test_check.h.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TEXT_BYTES = 400,
    MOST_FAILURES = 25,  // a loop that always fails must not fill the log
};

// failure_count is shared by the threads of a test; relaxed, as it orders nothing.
static struct {
    _Atomic int failure_count;
} check;

static void say(const char *text, int length)
{
    if (length > 0) {
        size_t bytes = (size_t)length < TEXT_BYTES ? (size_t)length : TEXT_BYTES - 1;
        ssize_t written = write(STDERR_FILENO, text, bytes);
        (void)written;
    }
}

static void count_failure(void)
{
    if (atomic_fetch_add_explicit(&check.failure_count, 1, memory_order_relaxed) >= MOST_FAILURES) {
        check_give_up();
    }
}

bool check_that(bool is_true, const char *file, int line, const char *text)
{
    if (!is_true) {
        char buffer[TEXT_BYTES];
        say(buffer, snprintf(buffer, sizeof(buffer), "%s:%d: expected %s\n", file, line, text));
        count_failure();
    }
    return is_true;
}

bool check_at_most(size_t value, size_t limit, const char *file, int line, const char *text)
{
    if (value > limit) {
        char buffer[TEXT_BYTES];
        say(buffer, snprintf(buffer, sizeof(buffer), "%s:%d: expected %s: %zu is more than %zu\n",
                             file, line, text, value, limit));
        count_failure();
    }
    return value <= limit;
}

void check_give_up(void)
{
    _exit(1);
}

void check_skip(const char *reason)
{
    char buffer[TEXT_BYTES];
    say(buffer, snprintf(buffer, sizeof(buffer), "skipped: %s\n", reason));
    _exit(CHECK_SKIPPED);
}

int check_result(void)
{
    return atomic_load_explicit(&check.failure_count, memory_order_relaxed) == 0 ? 0 : 1;
}

void check_in_child(const char *name, void (*body)(void), unsigned seconds)
{
    char buffer[TEXT_BYTES];
    pid_t pid = fork();
    if (pid == 0) {
        atomic_store_explicit(&check.failure_count, 0, memory_order_relaxed);
        (void)alarm(seconds);
        body();
        _exit(check_result());
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        (void)check_that(false, name, 0, "fork and waitpid succeed");
    } else if (WIFSIGNALED(status)) {
        int signal_number = WTERMSIG(status);
        say(buffer, snprintf(buffer, sizeof(buffer), "%s: the child died of signal %d (%s)\n", name,
                             signal_number, signal_number == SIGALRM ? "it hung" : "a crash"));
        count_failure();
    } else if (WEXITSTATUS(status) != 0) {
        say(buffer, snprintf(buffer, sizeof(buffer), "%s: the child exited with %d\n", name,
                             WEXITSTATUS(status)));
        count_failure();
    }
}
