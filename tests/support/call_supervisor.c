// See call_supervisor.h.
// SPDX-License-Identifier: MIT
#include "call_supervisor.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CANNOT_RUN = 126,
    LINE_BYTES = 600,
};

// ---- The child ----------------------------------------------------------------------------------

// The descriptor that the kernel asks through, or -1.
static int install_filter(const int *calls, size_t count)
{
    struct sock_filter program[SUPERVISED_MOST + 3];
    size_t length = 0;
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        // A hit jumps over the remaining comparisons and the "allow" to the "ask".
        program[length++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &filter);
}

// Tells the parent the number of the descriptor and waits until the parent has a copy.
static _Noreturn void run_child(char *const *argv, int error_file, int to_parent, int from_parent,
                                const int *calls, size_t count)
{
    char word = 0;
    int listener = install_filter(calls, count);
    ssize_t told = write(to_parent, &listener, sizeof listener);
    if (told == (ssize_t)sizeof listener && read(from_parent, &word, 1) == 1) {
        (void)dup2(error_file, STDERR_FILENO);
        (void)execvp(argv[0], argv);
    }
    _exit(CANNOT_RUN);
}

// ---- The parent ---------------------------------------------------------------------------------

static int copy_descriptor(pid_t child, int number)
{
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
    (void)close(process);
    return copy;
}

// Answers one question.  A caller that a signal ended meanwhile needs no answer.
static void answer(int listener, call_judge *judge, void *context)
{
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) {
        return;
    }
    struct supervised_call call = {.thread = (pid_t)question.pid,
                                   .number = question.data.nr,
                                   .return_address = question.data.instruction_pointer};
    for (size_t i = 0; i < 6; i++) {
        call.arguments[i] = question.data.args[i];
    }
    struct seccomp_notif_resp response = {.id = question.id};
    response.error = -judge(&call, context);
    response.flags = response.error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void answer_all(int listener, call_judge *judge, void *context)
{
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    for (;;) {
        int count = poll(&waiting, 1, -1);
        if (count > 0 && (waiting.revents & POLLIN) != 0) {
            answer(listener, judge, context);
        } else if (count >= 0 || errno != EINTR) {
            return;  // nobody is left who could ask
        }
    }
}

bool supervise(char *const *argv, int error_file, const int *calls, size_t call_count,
               call_judge *judge, void *context, int *status)
{
    int up[2];
    int down[2];
    int number = -1;
    if (call_count > SUPERVISED_MOST || pipe(up) != 0 || pipe(down) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        run_child(argv, error_file, up[1], down[0], calls, call_count);
    }
    (void)close(up[1]);
    (void)close(down[0]);
    bool is_told = read(up[0], &number, sizeof number) == (ssize_t)sizeof number && number >= 0;
    int listener = is_told ? copy_descriptor(child, number) : -1;
    bool is_ready = listener >= 0 && write(down[1], "", 1) == 1;
    (void)close(up[0]);
    (void)close(down[1]);
    if (is_ready) {
        answer_all(listener, judge, context);
    }
    (void)close(listener);
    return waitpid(child, status, 0) == child && is_ready;
}

bool address_is_in_file(pid_t thread, uint64_t address, const char *part)
{
    char text[LINE_BYTES];
    bool is_found = false;
    (void)snprintf(text, sizeof text, "/proc/%d/maps", (int)thread);
    FILE *maps = fopen(text, "re");
    while (maps != NULL && !is_found && fgets(text, sizeof text, maps) != NULL) {
        char *rest = NULL;
        uint64_t start = strtoull(text, &rest, 16);
        uint64_t end = strtoull(rest + 1, NULL, 16);
        is_found = address >= start && address < end && strstr(text, part) != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return is_found;
}
