// SPDX-License-Identifier: MIT
#include "stats/budget.h"
#include "thread/batch.h"
#include "unit_check.h"

#include <string.h>

enum {
    SPARE_COUNT_MOST = 32,
    MANY_COUNT = 100,
};

// Of a heap, batches use only the list of spare ones.
static struct heap self;
static struct heap other;
static struct batch *batches[MANY_COUNT];

static int start_empty(void **state)
{
    (void)state;
    batch_give_spare(&self);
    batch_give_spare(&other);
    return self.spare_batch_count == 0 && self.spare_batches == NULL ? 0 : -1;
}

static void take_many(struct heap *heap)
{
    for (size_t i = 0; i < MANY_COUNT; i++) {
        batches[i] = batch_take(heap);
        assert_non_null(batches[i]);
        assert_int_equal(batch_count(batches[i]), 0);
        atomic_store(&batches[i]->count, (uint32_t)i + 1);
    }
}

static void give_many(struct heap *heap)
{
    for (size_t i = 0; i < MANY_COUNT; i++) {
        batch_give(heap, batches[i]);
    }
}

static void batches_are_empty_and_apart(void **state)
{
    (void)state;
    take_many(&self);
    for (size_t i = 0; i < MANY_COUNT; i++) {
        assert_int_equal((uintptr_t)batches[i] % 64, 0);
        assert_int_equal(batch_count(batches[i]), i + 1);
    }
    give_many(&self);
    take_many(&self);
    give_many(&self);
}

static void the_last_batch_given_is_the_next_taken(void **state)
{
    (void)state;
    struct batch *batch = batch_take(&self);
    atomic_store(&batch->count, 7);
    batch_give(&self, batch);
    assert_ptr_equal(batch_take(&self), batch);
    assert_int_equal(batch_count(batch), 0);
    batch_give(&self, batch);
}

static void a_thread_keeps_only_some_and_gives_the_others_to_all(void **state)
{
    (void)state;
    take_many(&self);
    size_t record_bytes = budget_read(&budget.record_bytes);
    give_many(&self);
    assert_true(self.spare_batch_count <= SPARE_COUNT_MOST);
    assert_true(self.spare_batch_count > 0);
    batch_give_spare(&self);
    assert_int_equal(self.spare_batch_count, 0);
    assert_null(self.spare_batches);
    // Nobody needs a fresh one, whoever takes them.
    take_many(&other);
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes);
    give_many(NULL);
    take_many(&self);
    assert_int_equal(budget_read(&budget.record_bytes), record_bytes);
    give_many(&self);
}

static void without_memory_there_is_none_once_the_spare_ones_are_used_up(void **state)
{
    (void)state;
    struct batch *taken = NULL;
    struct batch *batch = NULL;
    batch_give(&self, batch_take(&self));
    size_t count = 0;
    budget_add(&budget.limit_bytes, 1);
    while ((batch = batch_take(&self)) != NULL) {
        batch->next = taken;
        taken = batch;
        count++;
    }
    budget_subtract(&budget.limit_bytes, 1);
    assert_true(count > 0);
    assert_int_equal(self.spare_batch_count, 0);
    while (taken != NULL) {
        struct batch *next = taken->next;
        batch_give(&self, taken);
        taken = next;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(batches_are_empty_and_apart, start_empty),
        cmocka_unit_test_setup(the_last_batch_given_is_the_next_taken, start_empty),
        cmocka_unit_test_setup(a_thread_keeps_only_some_and_gives_the_others_to_all, start_empty),
        cmocka_unit_test_setup(without_memory_there_is_none_once_the_spare_ones_are_used_up,
                               start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
