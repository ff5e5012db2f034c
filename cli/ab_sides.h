// The sides of an A/B from the command line.
// Layer: cli.  Needs: ab_report, experiment_environment, settings.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_SIDES_H
#define HAK_CLI_AB_SIDES_H

#include "ab_report.h"

// Makes the comparisons that the options ask for.  `library` is preloaded; NULL when there is none,
// for the settings to be looked at first.  Changes this process's environment, see
// experiment_environment.h.  Returns an exit status, having said what is wrong.
int ab_sides_make(const struct ab_options *options, const char *library, const char *proof_path,
                  struct ab_report *report);

#endif
