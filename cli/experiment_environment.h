// The environment of a run: only what is named, and what any program needs.
// Layer: cli.  Needs: library, settings.
// SPDX-License-Identifier: MIT
//
// This process's own environment is made clean first.  What a side needs is then put into it (by
// settings_set_gate, library_preload and setenv), copied, and taken out again by cleaning once more.
#ifndef HAK_CLI_EXPERIMENT_ENVIRONMENT_H
#define HAK_CLI_EXPERIMENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

// Removes every variable that is neither on the list of what programs need (PATH, HOME, LANG and so
// on) nor among names[0 .. count), which are written NAME or NAME=value.
void experiment_environment_clean(char *const *names, size_t count);

// A copy of this process's environment, or NULL when memory is out.
char **experiment_environment_copy(void);

// Adds a variable of padding to each, so that all are of one size.  The size of the environment moves
// the stack, and with that the speed of some programs: a longer value must not seem slower.  Returns
// false when memory is out.
bool experiment_environment_pad(char ***environments, size_t count);

// The settings in it, separated by spaces: the HAKMEM_ variables but HAKMEM_STATS, which is ours.
// "the defaults" when there is none.
enum {
    ENVIRONMENT_TEXT_BYTES = 2048
};
void experiment_environment_describe(char *const *environment, char text[ENVIRONMENT_TEXT_BYTES]);

// True for a "NAME=value" that describe would show.
bool experiment_environment_is_setting(const char *variable);

void experiment_environment_drop(char **environment);

#endif
