// A test that compares two settings of the start runs itself once under each.
// SPDX-License-Identifier: MIT
#ifndef TESTS_RUN_SELF_H
#define TESTS_RUN_SELF_H

#include <stddef.h>

// Runs `program argument` under `settings` ("NAME=value NAME=value"); it must write one number and exit with 0.
// Returns the number.  Not for numbers of a process that must stay as it is: it allocates.
size_t run_self_for_number(const char *program, const char *argument, const char *settings);

#endif
