// Runs a program and decides about each of its system calls of chosen kinds.
// SPDX-License-Identifier: MIT
//
// The kernel stops the caller and asks the parent (seccomp's user notification, Linux 5.5): so it works
// on any program, with its threads and children, and on calls that no library could interpose.
#ifndef TESTS_CALL_SUPERVISOR_H
#define TESTS_CALL_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SUPERVISED_MOST = 16
};

struct supervised_call {
    pid_t thread;
    int number;  // SYS_...
    uint64_t arguments[6];
    uint64_t return_address;  // in the code that made the call
};

// 0: the call is made; an errno value: it fails with that instead.
typedef int call_judge(const struct supervised_call *call, void *context);

// Runs argv[0] under the judge, with standard error redirected to `error_file`, until it and its children
// have ended; true, and *status as waitpid gives it.  False where the kernel has no such notification.
bool supervise(char *const *argv, int error_file, const int *calls, size_t call_count,
               call_judge *judge, void *context, int *status);

// Does the address lie in code that a thread's process has mapped from a file with `part` in its name?
bool address_is_in_file(pid_t thread, uint64_t address, const char *part);

#endif
