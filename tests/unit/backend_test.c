// SPDX-License-Identifier: MIT
#include "backend/backend.h"

#include "front/free_fast.h"
#include "front/malloc_slow.h"
#include "policy/gates.h"
#include "route/route_table.h"
#include "thread/process.h"
#include "unit_check.h"
#include "unit_hardened.h"

#include <string.h>

static enum backend_id backend_of(const void *block)
{
    return (enum backend_id)span_of((uintptr_t)block)->backend;
}

static void every_backend_says_what_it_trades(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        assert_non_null(backend_table[i].name);
        assert_non_null(backend_table[i].trade);
        assert_non_null(backend_table[i].refill);
        assert_non_null(backend_table[i].flush);
        for (unsigned other = 0; other < i; other++) {
            assert_string_not_equal(backend_table[i].name, backend_table[other].name);
        }
    }
}

static void a_block_knows_the_backend_that_its_route_named(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        void *block = malloc_slow(size_class_bytes((class_id)cls), KIND_MALLOC);
        bool is_pool = cls >= TINY_CLASS_COUNT || route_of((class_id)cls) == ROUTE_POOL_ONLY;
        assert_int_equal(backend_of(block), is_pool ? BACKEND_POOL : route_backend((class_id)cls));
        free_fast(block, KIND_MALLOC);
    }
}

// Slabs of two backends in one owner: each block goes back to the one it came from, whatever the order.
static void a_flush_goes_by_the_block(void **state)
{
    (void)state;
    enum {
        CLASS_512 = 32,
        TAG = 77,
        EACH = 64,
    };
    static struct lock owner_lock;
    static struct slab_owner owner = {.lock = &owner_lock};
    void *blocks[2 * EACH];
    owner.tag = page_entry_make(TAG, 0);
    assert_true(slab_add(&owner, CLASS_512, BACKEND_POOL));
    assert_int_equal(slab_refill(&owner, CLASS_512, blocks, EACH), EACH);
    struct slab *first = slab_of(blocks[0]);
    slab_detach(first);  // so that the next blocks come from elsewhere
    assert_int_equal(backend_refill(BACKEND_LEGACY, &owner, CLASS_512, blocks + EACH, EACH), EACH);
    slab_reattach(first);
    struct slab *second = slab_of(blocks[EACH]);
    assert_int_equal(backend_of(blocks[0]), BACKEND_POOL);
    assert_int_equal(backend_of(blocks[EACH]), BACKEND_LEGACY);

    void *mixed[2 * (EACH - 1)];
    for (size_t i = 0; i < EACH - 1; i++) {
        mixed[2 * i] = blocks[i];
        mixed[2 * i + 1] = blocks[EACH + i];
    }
    backend_flush(&owner, mixed, 2 * (EACH - 1));
    assert_int_equal(first->free_count, first->capacity - 1);
    assert_int_equal(second->free_count, second->capacity - 1);
    backend_flush(&owner, &blocks[EACH - 1], 1);
    backend_flush(&owner, &blocks[2 * EACH - 1], 1);
    assert_int_equal(owner.classes[CLASS_512].slab_count, 0);
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_says_what_it_trades),
        cmocka_unit_test(a_block_knows_the_backend_that_its_route_named),
        cmocka_unit_test(a_flush_goes_by_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
