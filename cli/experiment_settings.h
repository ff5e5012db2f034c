// The environment of a side that runs on hakmem with some settings.
// Layer: cli.  Needs: experiment_environment, experiment_options, library, settings, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_SETTINGS_H
#define HAK_CLI_EXPERIMENT_SETTINGS_H

#include "experiment_options.h"

// What stays the same for all sides.
struct experiment_foundation {
    const struct experiment_list *variables;  // handed on
    const char *library;     // preloaded; NULL: none, the settings are looked at first
    const char *proof_path;  // where the figures of the heap go
};

// `profile` may be NULL; the settings, each GATE=value, win over it and the last one of a gate over
// the others.  Changes this process's environment, see experiment_environment.h.  Returns NULL,
// having said what is wrong.
char **experiment_settings_make(const struct experiment_foundation *base, const char *profile,
                                char *const *settings, size_t count);

#endif
