// Every backend against a model of what is taken: many classes at once, purges and limits in between.
// SPDX-License-Identifier: MIT
#include "../support/random_stream.h"
#include "backend/backend.h"
#include "backend/backend_purge.h"
#include "budget_check.h"
#include "os/os_memory.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <string.h>

enum {
    CLASS_FIRST = 17,  // 272 bytes: the smallest that all backends serve
    BLOCK_COUNT_MOST = 20000,
    BATCH_COUNT_MOST = 200,
    ROUND_COUNT = 1500,
};

static struct slab_owner owner;
static struct lock owner_lock;

static struct {
    struct random_stream random;
    enum backend_id backend;
    void *blocks[BLOCK_COUNT_MOST];
    size_t count;
    size_t bytes;
} model;

static size_t bytes_of(const void *block)
{
    page_entry entry = page_map_lookup(block);
    assert_int_equal(page_entry_tag(entry), page_entry_tag(owner.tag));
    return size_class_bytes((class_id)page_entry_class(entry));
}

// Each block says at both ends where it is, so that two that overlap are found.
static void write_block(void *block, size_t bytes)
{
    *(void **)block = block;
    *(void **)(void *)((char *)block + bytes - sizeof block) = block;
}

static void assert_written(void *block)
{
    assert_ptr_equal(*(void **)block, block);
    assert_ptr_equal(*(void **)(void *)((char *)block + bytes_of(block) - sizeof block), block);
}

static void take_some(void)
{
    class_id cls =
        (class_id)(CLASS_FIRST + random_below(&model.random, TINY_CLASS_COUNT - CLASS_FIRST));
    size_t want = random_below(&model.random, BATCH_COUNT_MOST) + 1;
    want = min_size(want, BLOCK_COUNT_MOST - model.count);
    void **blocks = &model.blocks[model.count];
    size_t taken = want != 0 ? backend_refill(model.backend, &owner, cls, blocks, want) : 0;
    assert_true(taken <= want);
    assert_true(taken != 0 || want == 0 || budget_read(&budget.limit_bytes) != 0);
    for (size_t i = 0; i < taken; i++) {
        assert_int_equal(bytes_of(blocks[i]), size_class_bytes(cls));
        assert_int_equal((uintptr_t)blocks[i] % TINY_STEP_BYTES, 0);
        write_block(blocks[i], size_class_bytes(cls));
    }
    model.count += taken;
    model.bytes += taken * size_class_bytes(cls);
}

static void give(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t last = model.count - 1 - i;
        size_t pick = random_below(&model.random, last + 1);
        void *block = model.blocks[pick];
        model.blocks[pick] = model.blocks[last];
        model.blocks[last] = block;
        assert_written(block);
        model.bytes -= bytes_of(block);
    }
    model.count -= count;
    if (count != 0) {
        lock_take(owner.lock);
        backend_flush(&owner, &model.blocks[model.count], count);
        lock_give(owner.lock);
    }
}

static void assert_sums(void)
{
    size_t out_count = 0;
    size_t slab_count = 0;
    size_t free_bytes = 0;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        const struct slab_class *class = &owner.classes[cls];
        out_count += class->block_count - class->free_count;
        slab_count += class->slab_count;
        free_bytes += class->free_count * size_class_bytes((class_id)cls);
    }
    assert_int_equal(out_count, model.count);
    assert_int_equal(owner.taken_bytes, model.bytes);
    size_t used_bytes = committed_page_bytes() - page_heap_dirty_bytes();
    assert_true(used_bytes >= model.bytes);
    // What is committed is out, free, idle, or the end of a unit that is too short for a block.
    assert_true(used_bytes <=
                model.bytes + free_bytes + owner.idle_bytes + slab_count * (size_t)UNIT_BYTES / 4);
    assert_int_equal(budget_read(&budget.emptied_bytes), owner.emptied_bytes);
}

// A limit that leaves little room, or none at all.
static void change_limit(void)
{
    size_t limit = 0;
    if (random_below(&model.random, 2) == 0) {
        limit = budget_read(&budget.committed_bytes) + random_below(&model.random, 40) * UNIT_BYTES;
    }
    atomic_store(&budget.limit_bytes, limit);
}

static void play(size_t round)
{
    bool is_growing = round / 100 % 2 == 0;
    size_t kind = random_below(&model.random, 100);
    if (kind < (is_growing ? 60 : 35)) {
        take_some();
    } else if (kind < 94) {
        give(min_size(random_below(&model.random, BATCH_COUNT_MOST) + 1, model.count));
    } else if (kind < 96) {
        (void)backend_purge(&owner);
    } else if (kind < 97) {
        (void)page_heap_purge(0);
    } else {
        change_limit();
    }
}

static void check_backend(enum backend_id backend)
{
    owner = (struct slab_owner){.lock = &owner_lock};
    owner.tag = page_entry_make(9, 0);
    model.backend = backend;
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        play(round);
        assert_sums();
    }
    atomic_store(&budget.limit_bytes, 0);
    // To the last one, in parts, with a purge between them.
    while (model.count != 0) {
        give((model.count + 1) / 2);
        (void)backend_purge(&owner);
        assert_sums();
        for (size_t i = 0; i < model.count; i++) {
            assert_written(model.blocks[i]);
        }
    }
    assert_null(owner.segments);
    assert_int_equal(owner.idle_bytes, 0);
    (void)page_heap_purge(0);
    assert_int_equal(committed_page_bytes(), 0);
}

static void what_a_backend_hands_out_is_whole_and_counted(void **state)
{
    (void)state;
    for (unsigned backend = 0; backend < BACKEND_COUNT; backend++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            model.random.state = seed;
            check_backend((enum backend_id)backend);
        }
    }
}

// A purge whose thread a fork has left behind, at each of its steps.
static void a_purge_can_be_forgotten_at_any_step(void **state)
{
    (void)state;
    run_only_where(os_page_bytes() < UNIT_BYTES);
    for (unsigned backend = 0; backend < BACKEND_COUNT; backend++) {
        const struct backend_purge *purge = backend_table[backend].purge;
        for (int steps = 1; purge != NULL && steps <= 3; steps++) {
            owner = (struct slab_owner){.lock = &owner_lock};
            owner.tag = page_entry_make(9, 0);
            model.backend = (enum backend_id)backend;
            model.random.state = 5;
            for (size_t i = 0; i < 60; i++) {
                take_some();
            }
            give(model.count / 10 * 9);
            owner.is_purging = true;
            assert_true(purge->find(&owner) != 0);
            if (steps >= 2) {
                purge->begin(&owner);
            }
            if (steps >= 3) {
                purge->purge(&owner);
            }
            take_some();
            give(model.count / 2);
            backend_purge_forget(&owner);
            assert_sums();
            for (size_t i = 0; i < 60; i++) {
                take_some();
            }
            give(model.count);
            assert_sums();
            assert_null(owner.segments);
            assert_null(owner.purged_segments);
            (void)backend_purge(&owner);  // sets emptied_bytes right
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_backend_hands_out_is_whole_and_counted),
        cmocka_unit_test(a_purge_can_be_forgotten_at_any_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
