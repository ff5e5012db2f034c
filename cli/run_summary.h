// What `hakmem run --stats` prints when the program has ended.
// Layer: cli.  Needs: launch, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_RUN_SUMMARY_H
#define HAK_CLI_RUN_SUMMARY_H

#include "launch.h"

#include <stdio.h>

#include <jansson.h>

// Time and memory of the run, and the allocator's figures; `figures` NULL: it left none.
void run_summary_print(FILE *out, const char *program, const struct launch_result *result,
                       const json_t *figures);

#endif
