// Slabs of one owner against a model of what is taken: every sum is checked after every step.
// SPDX-License-Identifier: MIT
#include "../support/random_stream.h"
#include "backend/backend.h"
#include "backend/backend_purge.h"
#include "backend/slab.h"
#include "backend/slab_purge.h"
#include "stats/budget.h"
#include "unit_check.h"

#include <string.h>

enum {
    BLOCK_COUNT_MOST = 12000,
    BATCH_COUNT_MOST = 200,
    ROUND_COUNT = 300,
};

static struct slab_owner owner;
static struct lock owner_lock;

static struct {
    struct random_stream random;
    class_id cls;
    void *blocks[BLOCK_COUNT_MOST];
    size_t count;
} model;

static size_t count_bits(const struct slab *slab)
{
    size_t count = 0;
    for (size_t word = 0; word * 64 < slab->capacity; word++) {
        count += (size_t)__builtin_popcountll(slab->bitmap[word]);
    }
    return count;
}

// The invariants of struct slab and struct slab_class.
static void assert_sums(void)
{
    const struct slab_class *class = &owner.classes[model.cls];
    size_t slab_count = 0;
    size_t block_count = 0;
    size_t free_count = 0;
    for (int list = 0; list < SLAB_LIST_COUNT; list++) {
        const struct slab *slab = class->list[list];
        for (; slab != NULL; slab = (const struct slab *)(const void *)slab->span.next) {
            assert_int_equal(slab->list, list);
            assert_int_equal(count_bits(slab), slab->free_count);
            assert_true(slab->free_count < slab->capacity);
            slab_count++;
            block_count += slab->capacity;
            free_count += slab->free_count;
        }
    }
    assert_int_equal(class->slab_count, slab_count);
    assert_int_equal(class->block_count, block_count);
    assert_int_equal(class->free_count, free_count);
    assert_int_equal(block_count - free_count, model.count);
    assert_int_equal(owner.taken_bytes, model.count * size_class_bytes(model.cls));
}

static void take_some(void)
{
    size_t want = random_below(&model.random, BATCH_COUNT_MOST) + 1;
    want = min_size(want, BLOCK_COUNT_MOST - model.count);
    void **blocks = &model.blocks[model.count];
    size_t taken = slab_refill(&owner, model.cls, blocks, want);
    if (taken == 0 && slab_add(&owner, model.cls, BACKEND_LEGACY)) {
        taken = slab_refill(&owner, model.cls, blocks, want);
        assert_true(taken != 0 || want == 0);
    }
    for (size_t i = 0; i < taken; i++) {
        memset(blocks[i], 0xb7, 16);
        *(size_t *)blocks[i] = (size_t)blocks[i];
    }
    model.count += taken;
}

static void give_some(void)
{
    size_t count = min_size(random_below(&model.random, BATCH_COUNT_MOST) + 1, model.count);
    for (size_t i = 0; i < count; i++) {
        size_t last = model.count - 1 - i;
        size_t pick = random_below(&model.random, last + 1);
        void *block = model.blocks[pick];
        model.blocks[pick] = model.blocks[last];
        model.blocks[last] = block;
    }
    model.count -= count;
    for (size_t i = model.count; i < model.count + count; i++) {
        assert_int_equal(*(size_t *)model.blocks[i], (size_t)model.blocks[i]);
    }
    backend_flush(&owner, &model.blocks[model.count], count);
}

// Phases of growth and shrinking, with a purge here and there: what is live must never be purged.
static void play(class_id cls)
{
    owner = (struct slab_owner){.lock = &owner_lock};
    owner.tag = page_entry_make(9, 0);
    model.cls = cls;
    model.count = 0;
    for (int round = 0; round < ROUND_COUNT; round++) {
        bool is_growing = round / 50 % 2 == 0;
        if (random_below(&model.random, 4) == 0 ? !is_growing : is_growing) {
            take_some();
        } else {
            give_some();
        }
        if (random_below(&model.random, 10) == 0) {
            (void)backend_purge(&owner);
        }
        assert_sums();
    }
    while (model.count != 0) {
        give_some();
        assert_sums();
    }
    assert_int_equal(owner.classes[cls].slab_count, 0);
}

static void the_sums_hold_in_every_class_whatever_happens(void **state)
{
    (void)state;
    static const class_id classes[] = {1, 2, 3, 7, 14, 32, 63, 64, 65, 70, 77, 81};
    for (size_t i = 0; i < sizeof classes; i++) {
        play(classes[i]);
    }
}

static void what_was_purged_is_counted_once(void **state)
{
    (void)state;
    size_t dirty_bytes = budget_read(&budget.dirty_bytes);
    size_t record_bytes = budget_read(&budget.record_bytes);
    assert_int_equal(budget_read(&budget.committed_bytes), dirty_bytes + record_bytes);
    assert_true(budget_read(&budget.purged_bytes) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_hold_in_every_class_whatever_happens),
        cmocka_unit_test(what_was_purged_is_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
