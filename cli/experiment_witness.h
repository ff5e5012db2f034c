// Proof of which allocator served a run, whichever it is.
// Layer: cli.  Needs: experiment_run, near_file, talk.
// SPDX-License-Identifier: MIT
//
// A small library, the witness, is preloaded behind the allocator.  In each process it says which
// object malloc comes from, at the start and at exit.  What that can't show: that a program with a
// second allocator inside asks malloc at all, and anything of processes that are linked statically
// or were started without the preload.
#ifndef HAK_CLI_EXPERIMENT_WITNESS_H
#define HAK_CLI_EXPERIMENT_WITNESS_H

#include "experiment_proof.h"

#include <limits.h>
#include <stdbool.h>

struct experiment_witness {
    struct experiment_proof file;
    char library[PATH_MAX];
};

enum witness_finding {
    WITNESS_PROVEN,  // all that was said is what was expected, and a process said it at its end
    WITNESS_SILENT,  // nobody said anything at the end
    WITNESS_OTHER    // some process took its malloc elsewhere
};

// Returns false, having said why, when the witness isn't there or can't be preloaded.
bool experiment_witness_open(struct experiment_witness *witness);
void experiment_witness_close(struct experiment_witness *witness);

// Puts the witness behind `object` (NULL: alone) into this process's environment.  Returns false
// when memory is out.
bool experiment_witness_preload(const struct experiment_witness *witness, const char *object);

// Forgets earlier runs.
void experiment_witness_clear(const struct experiment_witness *witness);

// What was said since then, compared with `object`.  The last one that differs is in `other`.
enum witness_finding experiment_witness_read(const struct experiment_witness *witness,
                                             const char *object, char other[PATH_MAX]);

// Preloads `object` (NULL: nothing) into a process of its own and finds out which object its malloc
// comes from.  `object` may be a name that the loader looks for.  What the loader says otherwise is
// in message, or "".  Returns false when nothing was found out.
bool experiment_witness_find(const struct experiment_witness *witness, const char *object,
                             char found[PATH_MAX], char message[PATH_MAX]);

#endif
