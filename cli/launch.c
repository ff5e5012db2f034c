// SPDX-License-Identifier: MIT
#include "launch.h"

#include "command.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The child that signals are handed on to, or 0; set before these signals are unblocked.
static volatile sig_atomic_t child_pid;

static const int forwarded_signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                        SIGUSR1, SIGUSR2, SIGCONT};

enum {
    FORWARDED_COUNT = sizeof forwarded_signals / sizeof forwarded_signals[0]
};

static int explain_start_failure(const char *program, int error)
{
    if (error == ENOENT || error == ENOTDIR) {
        talk_say("%s was not found.", program);
        return EXIT_NOT_FOUND;
    }
    talk_say("%s could not be started: %s.", program, strerror(error));
    return EXIT_NOT_EXECUTABLE;
}

int launch_become(char **words)
{
    (void)execvp(words[0], words);
    return explain_start_failure(words[0], errno);
}

// The terminal sends its signals to the child too; only those of another process are handed on.
static void hand_on(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0 && child_pid > 0) {
        int error = errno;
        (void)kill((pid_t)child_pid, signal_number);
        errno = error;
    }
}

// A signal that this process was started to ignore stays ignored, here and in the child.
static void install_handlers(void)
{
    for (size_t i = 0; i < FORWARDED_COUNT; i++) {
        struct sigaction present;
        struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
        (void)sigfillset(&action.sa_mask);
        if (sigaction(forwarded_signals[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN) {
            (void)sigaction(forwarded_signals[i], &action, NULL);
        }
    }
    // Whoever reads the summary may be gone; the program's status and the files to remove remain.
    (void)signal(SIGPIPE, SIG_IGN);
}

static void block_forwarded(sigset_t *present)
{
    sigset_t blocked;
    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < FORWARDED_COUNT; i++) {
        (void)sigaddset(&blocked, forwarded_signals[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, present);
}

// exec gives the signals their default action, as they are only caught in the parent.
static _Noreturn void become_child(char **words, int error_pipe, const sigset_t *mask)
{
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execvp(words[0], words);
    int error = errno;
    (void)!write(error_pipe, &error, sizeof error);
    _exit(EXIT_NOT_FOUND);
}

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// The errno value that exec left in the child, or 0 when it worked and so closed the pipe.
static int read_start_error(int pipe_end)
{
    int error = 0;
    ssize_t byte_count = 0;
    do {
        byte_count = read(pipe_end, &error, sizeof error);
    } while (byte_count < 0 && errno == EINTR);
    return byte_count == (ssize_t)sizeof error ? error : 0;
}

static void wait_for_child(struct launch_result *result, double start_seconds)
{
    pid_t waited = 0;
    do {
        waited = wait4(result->pid, &result->wait_status, 0, &result->usage);
    } while (waited < 0 && errno == EINTR);
    child_pid = 0;
    result->wall_seconds = now_seconds() - start_seconds;
}

int launch_and_wait(char **words, struct launch_result *result)
{
    int ends[2];
    sigset_t mask;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return explain_start_failure(words[0], errno);
    }
    block_forwarded(&mask);
    double start_seconds = now_seconds();
    result->pid = fork();
    if (result->pid == 0) {
        become_child(words, ends[1], &mask);
    }
    int fork_error = errno;
    (void)close(ends[1]);
    if (result->pid > 0) {
        child_pid = result->pid;
        install_handlers();
    }
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    int error = result->pid < 0 ? fork_error : read_start_error(ends[0]);
    (void)close(ends[0]);
    if (result->pid > 0) {
        wait_for_child(result, start_seconds);
    }
    return error != 0 ? explain_start_failure(words[0], error) : 0;
}

int launch_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? EXIT_SIGNAL_BASE + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}
