// The sides of an experiment whose sides are allocators.
// Layer: cli.  Needs: compare_allocators, experiment, experiment_environment, experiment_options.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_COMPARE_SIDES_H
#define HAK_CLI_COMPARE_SIDES_H

#include "compare_allocators.h"
#include "experiment.h"
#include "experiment_options.h"

// What all sides have in their environments.
struct compare_proof_files {
    const struct experiment_list *variables;  // handed on to the program
    const struct experiment_witness *witness;
    const char *heap_path;  // where hakmem writes the figures of its heap; NULL: nowhere
};

// The files that prove what ran.
struct compare_proofs {
    struct experiment_proof heap;
    struct experiment_witness witness;
};

// What a comparison of allocators begins with: finds the core and the allocators of `list`, opens the
// proofs, and cleans the environment.  Returns an exit status, having said why it isn't EXIT_SUCCESS.
int compare_sides_start(const struct experiment_options *common, const char *list, int *core,
                        struct compare_proofs *proofs, struct compare_allocators *allocators);

// Fills sides[0 .. count), one for each allocator; what is left over is the first again.  Returns
// false, having said why, when memory is out.
bool compare_sides_make(struct experiment_side *sides, size_t count,
                        const struct compare_allocators *allocators,
                        const struct compare_proof_files *files);

#endif
