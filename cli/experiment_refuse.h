// The end of a command line that can't be meant: one sentence, and status 2.
// Layer: cli.  Needs: talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_REFUSE_H
#define HAK_CLI_EXPERIMENT_REFUSE_H

// argp_error would add two lines about help, which say nothing of what is wrong.
_Noreturn void experiment_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
