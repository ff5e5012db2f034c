// A thread that does one thing after another on request and stays alive in between.
// SPDX-License-Identifier: MIT
#ifndef TESTS_UNIT_WORKER_H
#define TESTS_UNIT_WORKER_H

#include "unit_check.h"

#include <pthread.h>

struct worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unit_body *body;  // what to do now; NULL: nothing
    void *argument;
    bool is_ending;
};

void worker_start(struct worker *worker);

// Runs body(argument) in the worker's thread and waits until it is done.  Asserts belong to the main
// thread: body must not use them.
void worker_run(struct worker *worker, unit_body *body, void *argument);

// Ends the thread, its destructors included.
void worker_end(struct worker *worker);

#endif
