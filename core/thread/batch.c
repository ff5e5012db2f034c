// SPDX-License-Identifier: MIT
#include "thread/batch.h"

#include "region/record_pool.h"

enum {
    SPARE_COUNT_MOST = 32,  // a thread's own
    MOVE_COUNT = 16,        // taken from or given to the pool at once
};

// Guarded by batch_pool.lock.
static struct {
    struct lock lock;
    struct batch *free;
} batch_pool;

static void push_spare(struct heap *self, struct batch *batch)
{
    batch->next = self->spare_batches;
    compiler_barrier();  // a fork finds a valid list
    self->spare_batches = batch;
    compiler_barrier();
    self->spare_batch_count++;
}

static struct batch *pop_spare(struct heap *self)
{
    struct batch *batch = self->spare_batches;
    if (batch != NULL) {
        self->spare_batches = batch->next;
        self->spare_batch_count--;
    }
    return batch;
}

void batch_repair(struct heap *self)
{
    self->spare_batch_count = 0;
    for (const struct batch *batch = self->spare_batches; batch != NULL; batch = batch->next) {
        self->spare_batch_count++;
    }
}

static void fetch_from_pool(struct heap *self)
{
    lock_take(&batch_pool.lock);
    for (int i = 0; i < MOVE_COUNT && batch_pool.free != NULL; i++) {
        struct batch *batch = batch_pool.free;
        batch_pool.free = batch->next;
        push_spare(self, batch);
    }
    lock_give(&batch_pool.lock);
}

struct batch *batch_take(struct heap *self)
{
    if (self->spare_batches == NULL) {
        fetch_from_pool(self);
    }
    struct batch *batch = pop_spare(self);
    return batch != NULL ? batch : record_take(sizeof(struct batch));
}

static void splice_into_pool(struct batch *first, struct batch *last)
{
    lock_take(&batch_pool.lock);
    last->next = batch_pool.free;
    batch_pool.free = first;
    lock_give(&batch_pool.lock);
}

// The thread has at least `count` spare ones, and count is not 0.
static void give_to_pool(struct heap *self, size_t count)
{
    struct batch *first = self->spare_batches;
    struct batch *last = first;
    for (size_t i = 1; i < count; i++) {
        last = last->next;
    }
    self->spare_batches = last->next;
    self->spare_batch_count -= count;
    splice_into_pool(first, last);
}

void batch_give(struct heap *self, struct batch *batch)
{
    atomic_store_explicit(&batch->count, 0, memory_order_relaxed);
    if (self == NULL) {
        splice_into_pool(batch, batch);
        return;
    }
    push_spare(self, batch);
    if (self->spare_batch_count > SPARE_COUNT_MOST) {
        give_to_pool(self, MOVE_COUNT);
    }
}

void batch_give_spare(struct heap *self)
{
    if (self->spare_batch_count != 0) {
        give_to_pool(self, self->spare_batch_count);
    }
}

void batch_pool_lock(void)
{
    lock_take(&batch_pool.lock);
}

void batch_pool_unlock(void)
{
    lock_give(&batch_pool.lock);
}
