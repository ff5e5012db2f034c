// The command line of `hakmem replay`.
// Layer: cli.  Needs: compare_options.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_REPLAY_OPTIONS_H
#define HAK_CLI_REPLAY_OPTIONS_H

#include "compare_options.h"

struct replay_options {
    struct compare_options compare;
    char *trace;
    char times[32];  // options of bench_replay, "" where there is none
    char touch[32];
    const char *plan_path;  // NULL: it is run
};

// Ends the process on wrong usage, having said what is wrong.
void replay_options_read(int argc, char **argv, struct replay_options *options);

#endif
