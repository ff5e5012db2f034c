// Gates and profiles as a user gives them on the command line.
// Layer: cli.  Needs: talk, core/policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SETTINGS_H
#define HAK_CLI_SETTINGS_H

#include "policy/gates.h"

#include <stdbool.h>

// Puts GATE=value into this process's environment, for the program that is started next.  The gate
// may be written with HAKMEM_ and in capitals or without: dirty_limit=8MiB.  Returns false, having
// said what is wrong, when there is no such gate or it doesn't take the value.
bool settings_set_gate(const char *setting);

// Reads GATE=value, written as above, for a program that is running already: the gate must be one that can
// be changed then.  *value points into `setting`.  Returns false, having said what is wrong.
bool settings_read_live(const char *setting, enum gate_id *id, const char **value);

// The same as settings_set_gate for HAKMEM_PROFILE; a profile with a / in it is a file, which must be understood.
bool settings_set_profile(const char *name);

// False, having said what may be meant, when GATE or GATE=value names no gate.
bool settings_know(const char *setting);

// Makes the path of a profile's file in this process's environment a whole one, as settings_set_profile does.
void settings_complete_profile(void);

// Tells of each setting in `environment` that does nothing because another one isn't, or is, set.
void settings_find_idle(char *const *environment, gates_problem *tell, void *context);

// Says what is wrong with the HAKMEM_ variables of this process's environment.
void settings_check(void);

#endif
