// How many system calls a program makes, its children's included.
// Layer: cli.  Needs: experiment_run, program_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_CALLS_H
#define HAK_CLI_SUITE_CALLS_H

#include <stdbool.h>

// False, having said what to do, when strace isn't there.
bool suite_calls_can_count(void);

// With `object` preloaded, or NULL for none.  0 when strace may not trace here.
double suite_calls_count(char *const *words, const char *object);

#endif
