// Proof that hakmem served a run, and with the settings that were meant.
// Layer: cli.  Needs: experiment_run, library, talk.
// SPDX-License-Identifier: MIT
//
// Every run leaves the figures of its heap where HAKMEM_STATS says: in a file in memory that this
// process holds open, so that nothing is left behind however it ends.
#ifndef HAK_CLI_EXPERIMENT_PROOF_H
#define HAK_CLI_EXPERIMENT_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct experiment_proof {
    int file;
    char path[64];  // for HAKMEM_STATS
};

// Returns false, having said why, when the system has no room for it.
bool experiment_proof_open(struct experiment_proof *proof);
void experiment_proof_close(struct experiment_proof *proof);

// Forgets earlier runs.
void experiment_proof_clear(const struct experiment_proof *proof);

// True when a process of the run since then left figures.  *thread_count: how many threads of `pid`
// allocated, 0 when it left none itself.
bool experiment_proof_read(const struct experiment_proof *proof, pid_t pid, size_t *thread_count);

// Starts this command under `environment`, in which the library is preloaded, and compares what the
// library says of each HAKMEM_ variable in it with what was set.  Returns false, having said what
// differs.
bool experiment_proof_check_settings(char **environment);

#endif
