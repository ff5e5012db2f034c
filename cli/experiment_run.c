// SPDX-License-Identifier: MIT
#include "experiment_run.h"

#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_BYTES = 1 << 20  // of what was printed, the end that is looked at
};

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

// The process group of the run that is under way, or 0.
static volatile sig_atomic_t run_group;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Nothing that was being measured outlives the measurement.  What was caught is sent again at once: with its
// default action it ends this process.
static void end_with_run(int signal_number)
{
    if (run_group != 0) {
        (void)kill(-(pid_t)run_group, SIGKILL);
        (void)kill((pid_t)run_group, SIGKILL);  // its group may not be there yet
    }
    if (isatty(STDERR_FILENO)) {
        (void)!write(STDERR_FILENO, "\r\033[K", 4);  // the line of progress
    }
    (void)raise(signal_number);
}

// A signal that this process was started to ignore stays ignored.
static void catch_ending_signals(void)
{
    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++) {
        struct sigaction present;
        struct sigaction action = {.sa_handler = end_with_run, .sa_flags = SA_RESETHAND};
        if (sigaction(ending_signals[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL) {
            (void)sigaction(ending_signals[i], &action, NULL);
        }
    }
}

static void pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((size_t)core, &cores);
    (void)sched_setaffinity(0, sizeof cores, &cores);
}

// The output goes to a file in memory and not through a pipe: nobody has to wake up to read it while
// the program is being measured.
static _Noreturn void become_program(const struct experiment_launch *launch, int output,
                                     int error_pipe)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(launch->keeps_output ? output : nothing, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    if (launch->core != RUN_CORE_ANY) {
        pin(launch->core);
    }
    if (launch->folder == NULL || chdir(launch->folder) == 0) {
        (void)execvpe(launch->words[0], launch->words, launch->environment);
    }
    int error = errno;
    (void)!write(error_pipe, &error, sizeof error);
    _exit(EXIT_FAILURE);
}

static void wait_for_end(struct experiment_run *run, double start_seconds)
{
    struct rusage usage;
    pid_t waited = 0;
    do {
        waited = wait4(run->pid, &run->wait_status, 0, &usage);
    } while (waited < 0 && errno == EINTR);
    run->cost = (struct experiment_cost){
        .wall_seconds = now_seconds() - start_seconds,
        .cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
        .peak_mib = (double)usage.ru_maxrss / 1024,
        .fault_count = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt,
    };
}

static char *read_end(int file)
{
    off_t length = lseek(file, 0, SEEK_END);
    off_t start = length > OUTPUT_BYTES ? length - OUTPUT_BYTES : 0;
    size_t wanted = (size_t)(length - start);
    char *text = malloc(wanted + 1);
    if (text == NULL) {
        return NULL;
    }
    ssize_t got = pread(file, text, wanted, start);
    size_t text_length = got > 0 ? (size_t)got : 0;
    for (size_t i = 0; i < text_length; i++) {
        if (text[i] == '\0') {  // it would hide what follows
            text[i] = '\n';
        }
    }
    text[text_length] = '\0';
    return text;
}

static bool start_and_wait(const struct experiment_launch *launch, int output,
                           struct experiment_run *run)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    (void)fflush(NULL);
    double start_seconds = now_seconds();
    run->pid = fork();
    if (run->pid == 0) {
        become_program(launch, output, ends[1]);
    }
    (void)close(ends[1]);
    if (run->pid > 0) {
        run_group = (sig_atomic_t)run->pid;
        if (read(ends[0], &run->start_error, sizeof run->start_error) <= 0) {
            run->start_error = 0;
        }
        wait_for_end(run, start_seconds);
        run_group = 0;
        run->output = read_end(output);
    }
    (void)close(ends[0]);
    return run->pid > 0 && run->output != NULL;
}

bool experiment_run_start(const struct experiment_launch *launch, struct experiment_run *run)
{
    memset(run, 0, sizeof *run);
    int output = memfd_create("output", MFD_CLOEXEC);
    catch_ending_signals();
    bool has_run = output >= 0 && start_and_wait(launch, output, run);
    if (!has_run) {
        talk_say("%s could not be started: %s.", launch->words[0], strerror(errno));
    }
    if (output >= 0) {
        (void)close(output);
    }
    return has_run;
}

void experiment_run_drop(struct experiment_run *run)
{
    free(run->output);
    run->output = NULL;
}

void experiment_run_last_line(const struct experiment_run *run, char *line, size_t line_bytes)
{
    size_t end = strlen(run->output);
    while (end > 0 && strchr("\r\n\t ", run->output[end - 1]) != NULL) {
        end--;
    }
    size_t start = end;
    while (start > 0 && run->output[start - 1] != '\n') {
        start--;
    }
    (void)snprintf(line, line_bytes, "%.*s", (int)(end - start), run->output + start);
}
