// SPDX-License-Identifier: MIT
#include "unit_worker.h"

static void *serve(void *argument)
{
    struct worker *worker = argument;
    (void)pthread_mutex_lock(&worker->mutex);
    while (!worker->is_ending) {
        if (worker->body != NULL) {
            worker->body(worker->argument);
            worker->body = NULL;
            (void)pthread_cond_broadcast(&worker->changed);
        }
        if (!worker->is_ending && worker->body == NULL) {
            (void)pthread_cond_wait(&worker->changed, &worker->mutex);
        }
    }
    (void)pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

void worker_start(struct worker *worker)
{
    *worker = (struct worker){.body = NULL};
    assert_int_equal(pthread_mutex_init(&worker->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&worker->changed, NULL), 0);
    assert_int_equal(pthread_create(&worker->thread, NULL, serve, worker), 0);
}

void worker_run(struct worker *worker, unit_body *body, void *argument)
{
    (void)pthread_mutex_lock(&worker->mutex);
    worker->argument = argument;
    worker->body = body;
    (void)pthread_cond_broadcast(&worker->changed);
    while (worker->body != NULL) {
        (void)pthread_cond_wait(&worker->changed, &worker->mutex);
    }
    (void)pthread_mutex_unlock(&worker->mutex);
}

void worker_end(struct worker *worker)
{
    (void)pthread_mutex_lock(&worker->mutex);
    worker->is_ending = true;
    (void)pthread_cond_broadcast(&worker->changed);
    (void)pthread_mutex_unlock(&worker->mutex);
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->mutex);
}
