// Gates and profiles as a user gives them on the command line.
// Layer: cli.  Needs: talk, core/policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SETTINGS_H
#define HAK_CLI_SETTINGS_H

#include <stdbool.h>

// Puts GATE=value into this process's environment, for the program that is started next.  The gate
// may be written with HAKMEM_ and in capitals or without: dirty_limit=8MiB.  Returns false, having
// said what is wrong, when there is no such gate or it doesn't take the value.
bool settings_set_gate(const char *setting);

// The same for HAKMEM_PROFILE; a profile with a / in it is a file, which must be understood.
bool settings_set_profile(const char *name);

// Says what is wrong with the HAKMEM_ variables of this process's environment.
void settings_check(void);

#endif
