// Starting the program, in this process or in a child that is waited for.
// Layer: cli.  Needs: talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_LAUNCH_H
#define HAK_CLI_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

// How a program ran.
struct launch_result {
    pid_t pid;
    int wait_status;      // as from waitpid
    double wall_seconds;  // from fork to its end
    struct rusage usage;  // of the program and of its children that it waited for
};

// Becomes the program.  Returns only when that failed: the exit status for it, having said why.
int launch_become(char **words);

// Runs the program in a child, hands signals that are sent to this process on to it, and waits.
// Returns 0 and fills *result, or the exit status for a program that could not be started.
int launch_and_wait(char **words, struct launch_result *result);

// What a shell gives as the exit status of such a program.
int launch_exit_status(int wait_status);

#endif
