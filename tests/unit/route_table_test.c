// Run once under each HAKMEM_TINY_PROFILE and with each backend.
// SPDX-License-Identifier: MIT
#include "route/route_table.h"

#include "hakmem.h"
#include "region/page_map.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "unit_check.h"
#include "unit_hardened.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_COUNT = 20,
    SPARE_COUNT = 8,
};

// The routes of the bands C0 to C7: O only tiny, F tiny first, P the pool.
static const struct {
    const char *profile;
    const char *routes;
} profiles[] = {
    {"conservative", "FFFFFFFF"}, {"hot", "OOOOFFFP"}, {"full", "OOOOOOOO"}, {"off", "PPPPPPPP"}};

static char expected_route(class_id cls)
{
    const char *profile = getenv("HAKMEM_TINY_PROFILE");
    if (cls >= TINY_CLASS_COUNT) {
        return 'F';
    }
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (strcmp(profile != NULL ? profile : "conservative", profiles[i].profile) == 0) {
            return profiles[i].routes[size_class_band(cls)];
        }
    }
    fail_msg("no such profile: %s", profile);
    return '?';
}

static uint32_t tag_of(const void *block)
{
    return page_entry_tag(page_map_lookup(block));
}

static int start_empty(void **state)
{
    (void)state;
    (void)hak_limit_set(0);
    hak_thread_flush();
    return heap_of_thread()->kind == HEAP_THREAD ? 0 : -1;
}

static void every_class_has_the_route_of_its_band(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        char route = "OFP"[route_of((class_id)cls)];
        assert_int_equal(route, expected_route((class_id)cls));
    }
}

static void blocks_come_from_where_their_route_says(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        const struct heap *owner = expected_route((class_id)cls) == 'P' ? heap_pool : thread_heap;
        bool is_shared = expected_route((class_id)cls) != 'P' && !route_has_bins((class_id)cls);
        void *blocks[BLOCK_COUNT];
        for (size_t i = 0; i < BLOCK_COUNT; i++) {
            blocks[i] = hak_malloc(size_class_bytes((class_id)cls));
            const struct heap *found = heap_registry_lookup(tag_of(blocks[i]));
            assert_true(is_shared ? found->kind == HEAP_LANE : found == owner);
        }
        for (size_t i = 0; i < BLOCK_COUNT; i++) {
            hak_free(blocks[i]);
        }
        assert_true(owner == thread_heap || bin_count(thread_heap, cls) == 0);
        assert_true(owner == thread_heap || heap_pool->slabs.classes[cls].slab_count == 0);
    }
}

static bool refuse(size_t wanted_bytes, void *context)
{
    (void)wanted_bytes;
    (void)context;
    return false;
}

// Takes blocks of the class until there are none; returns how many of them were the pool's.
static size_t count_pool_blocks(class_id cls)
{
    void **chain = NULL;
    void **block = NULL;
    size_t pool_count = 0;
    errno = 0;
    while ((block = hak_malloc(size_class_bytes(cls))) != NULL) {
        pool_count += tag_of(block) == heap_pool->owner_tag;
        *block = chain;
        chain = block;
    }
    assert_int_equal(errno, ENOMEM);
    for (; chain != NULL; chain = block) {
        block = *chain;
        hak_free(chain);
    }
    return pool_count;
}

// Nobody gets fresh pages, but the pool still has blocks.
static void only_a_class_that_may_falls_back_on_the_pool(void **state)
{
    (void)state;
    // Else the spare blocks' pages may be purged at once, and the limit forbids them then.
    assert_int_equal(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "8MiB"), 0);
    hak_limit_set_callback(refuse, NULL);
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls += 9) {
        void *kept = heap_shared_take(heap_pool, (class_id)cls);
        void *spare[SPARE_COUNT];
        for (size_t i = 0; i < SPARE_COUNT; i++) {
            spare[i] = heap_shared_take(heap_pool, (class_id)cls);
        }
        for (size_t i = 0; i < SPARE_COUNT; i++) {
            heap_give_locked(spare[i]);
        }
        (void)hak_limit_set(1);
        size_t pool_count = count_pool_blocks((class_id)cls);
        (void)hak_limit_set(0);
        assert_int_equal(pool_count >= SPARE_COUNT, expected_route((class_id)cls) != 'O');
        assert_int_equal(pool_count == 0, expected_route((class_id)cls) == 'O');
        heap_give_locked(kept);
    }
}

static void a_pool_class_keeps_nothing_at_hand(void **state)
{
    (void)state;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (expected_route((class_id)cls) == 'P') {
            assert_int_equal(thread_heap->bins.limit[cls], 0);
            assert_null(thread_heap->bins.head[cls]);
        }
    }
    assert_int_equal(heap_pool->bin_bytes, 0);
}

int main(void)
{
    skip_if_hardened();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_class_has_the_route_of_its_band, start_empty),
        cmocka_unit_test_setup(blocks_come_from_where_their_route_says, start_empty),
        cmocka_unit_test_setup(only_a_class_that_may_falls_back_on_the_pool, start_empty),
        cmocka_unit_test_setup(a_pool_class_keeps_nothing_at_hand, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
