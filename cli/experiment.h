// Runs of several sides in turns, in rounds: what `hakmem ab` and its relatives measure with.
// Layer: cli.  Needs: abtest, experiment_measure, experiment_proof, experiment_run, experiment_witness, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_EXPERIMENT_H
#define HAK_CLI_EXPERIMENT_H

#include "abtest/abtest.h"
#include "experiment_measure.h"
#include "experiment_proof.h"
#include "experiment_run.h"
#include "experiment_witness.h"

// What is compared: an environment, and the figures of its runs so far, by round.
struct experiment_side {
    const char *name;
    char **environment;
    bool must_run_hakmem;  // each run must prove it by the figures of its heap
    const char *object;    // where the witness must say that malloc is; NULL: it isn't asked
    double figures[ABTEST_PAIRS_MOST];
    struct experiment_cost costs[ABTEST_PAIRS_MOST];
};

struct experiment {
    char **words;        // the program
    const char *folder;  // where it runs; NULL: here
    const struct experiment_measure *measure;
    const struct experiment_proof *proof;
    const struct experiment_witness *witness;  // of the sides that have an object
    int core;
    uint64_t seed;  // of the order
    struct experiment_side *sides;
    size_t side_count;
    // Called after each run that counts; may be NULL.
    void (*progress)(const struct experiment *experiment, void *context);
    void *context;
    // What came of it so far.
    size_t round_count;
    size_t run_count;     // runs that count, also of a round that isn't whole
    size_t failed_side;   // after a failure: whose run it was
    size_t thread_count;  // the most that allocated in a run
};

// Runs each side once and forgets the figures: files are then in memory, and what is wrong shows before
// time is spent.  Returns false, having said why, when a run fails or gives no figure.
bool experiment_warm_up(struct experiment *experiment);

// Goes on until there are `round_count` rounds.  Returns false as above.
bool experiment_run_rounds(struct experiment *experiment, size_t round_count);

// Says so when a program with several threads had to share the core.
void experiment_say_shared_core(const char *program, int core, size_t thread_count);

// The highest core that this process may run on, since interrupts are mostly served by the lowest.
int experiment_choose_core(void);

// False when this process may not run on that core.
bool experiment_has_core(int core);

#endif
