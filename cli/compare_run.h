// What `hakmem compare` does once it knows what to run.
// Layer: cli.  Needs: compare_options.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_COMPARE_RUN_H
#define HAK_CLI_COMPARE_RUN_H

#include "compare_options.h"

// Runs `run_words` on the allocators in turns and tells the result, in which the program is called
// `words`.  Returns an exit status.
int compare_run(const struct compare_options *options, char **words, char **run_words);

#endif
