// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "os_refusal.h"
#include "thread/heap.h"
#include "unit_check.h"

#include <errno.h>
#include <string.h>

enum {
    PIECE_BYTES = 100000,
    HOARD_COUNT = 100,
    LIMIT_BYTES = 24 << 20,
    CALLS_MOST = 64,
};

// What the program could give up, and what its callback saw.
static struct {
    void *hoard[HOARD_COUNT];
    size_t hoard_count;
    size_t call_count;
    size_t wanted_bytes;
    bool is_promising;  // says that there is room without making any
} program;

static void empty_hoard(void)
{
    while (program.hoard_count > 0) {
        hak_free(program.hoard[--program.hoard_count]);
    }
}

static int start(void **state)
{
    (void)state;
    os_refusal_end();
    (void)hak_ctl_set("HAKMEM_HUGE_PAGES", "off");  // what is left of a chunk would be room
    (void)hak_limit_set(0);
    hak_limit_set_callback(NULL, NULL);
    empty_hoard();
    memset(&program, 0, sizeof program);
    (void)hak_trim(0);
    return 0;
}

static bool give_one_up(size_t wanted_bytes, void *context)
{
    assert_ptr_equal(context, &program);
    program.call_count++;
    program.wanted_bytes = wanted_bytes;
    if (program.hoard_count == 0) {
        return program.is_promising;
    }
    hak_free(program.hoard[--program.hoard_count]);
    return true;
}

static size_t committed_bytes(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    return stats.committed_bytes;
}

// Fills the heap up to the limit with small and large blocks; returns how many there are, chained.
static void **fill_up(size_t bytes)
{
    void **chain = NULL;
    void **block = NULL;
    while ((block = hak_malloc(bytes)) != NULL) {
        *block = chain;
        chain = block;
    }
    assert_int_equal(errno, ENOMEM);
    return chain;
}

static void free_chain(void **chain)
{
    while (chain != NULL) {
        void **next = *chain;
        hak_free(chain);
        chain = next;
    }
}

static void a_full_limit_is_enomem_and_never_passed(void **state)
{
    (void)state;
    static const size_t sizes[] = {16, 1000, 5000, PIECE_BYTES, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(hak_limit_set(LIMIT_BYTES), 0);
        errno = 0;
        void **chain = fill_up(sizes[i]);
        assert_true(committed_bytes() <= LIMIT_BYTES);
        assert_true(committed_bytes() > LIMIT_BYTES / 8 * 7);
        errno = 0;
        assert_null(hak_calloc(1, 1 << 20));  // what is left is less than a slab
        assert_int_equal(errno, ENOMEM);
        free_chain(chain);
        assert_true(committed_bytes() <= LIMIT_BYTES);
        // All of it can be had again, in another shape.
        void *block = hak_malloc(LIMIT_BYTES / 4 * 3);
        assert_non_null(block);
        hak_free(block);
        assert_int_equal(hak_limit_set(0), LIMIT_BYTES);
    }
}

static void fill_hoard(void)
{
    for (; program.hoard_count < HOARD_COUNT; program.hoard_count++) {
        program.hoard[program.hoard_count] = hak_malloc(1 << 20);
        assert_non_null(program.hoard[program.hoard_count]);
    }
}

static void the_callback_makes_room_and_the_allocation_succeeds(void **state)
{
    (void)state;
    fill_hoard();
    hak_limit_set_callback(give_one_up, &program);
    (void)hak_limit_set(committed_bytes() + (1 << 16));
    void *block = hak_malloc(1 << 19);
    assert_non_null(block);
    assert_int_equal(program.call_count, 1);
    assert_int_equal(program.hoard_count, HOARD_COUNT - 1);
    assert_true(program.wanted_bytes >= 1 << 19);
    hak_free(block);
}

static void a_callback_that_promises_in_vain_is_asked_only_so_often(void **state)
{
    (void)state;
    program.is_promising = true;
    hak_limit_set_callback(give_one_up, &program);
    (void)hak_limit_set(committed_bytes() + (1 << 16));
    errno = 0;
    assert_null(hak_malloc(1 << 20));
    assert_int_equal(errno, ENOMEM);
    assert_true(program.call_count >= 1 && program.call_count <= CALLS_MOST);
}

static void a_callback_that_gives_up_ends_the_matter(void **state)
{
    (void)state;
    hak_limit_set_callback(give_one_up, &program);
    (void)hak_limit_set(committed_bytes() + (1 << 16));
    assert_null(hak_malloc(1 << 20));
    assert_int_equal(program.call_count, 1);
    assert_null(hak_realloc(NULL, 1 << 20));
    assert_int_equal(program.call_count, 2);
    struct hak_heap *heap = hak_heap_create();
    if (heap != NULL) {
        assert_null(hak_heap_malloc(heap, 1 << 20));
        assert_int_equal(program.call_count, 3);
        hak_heap_destroy(heap);
    }
}

static void what_is_dirty_or_in_a_stock_is_given_back_before_anybody_is_asked(void **state)
{
    (void)state;
    void *block = hak_malloc(8 << 20);
    memset(block, 1, 8 << 20);
    hak_limit_set_callback(give_one_up, &program);
    (void)hak_limit_set(committed_bytes() + (1 << 16));
    hak_free(block);
    void *other = hak_malloc(4 << 20);
    assert_non_null(other);
    assert_int_equal(program.call_count, 0);
    hak_free(other);
}

static void the_system_that_refuses_is_not_the_programs_fault(void **state)
{
    (void)state;
    hak_limit_set_callback(give_one_up, &program);
    os_refusal.is_map_refused = true;
    errno = 0;
    assert_null(hak_malloc((size_t)1 << 30));
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(program.call_count, 0);
    os_refusal_end();
    void *block = hak_malloc(64 << 20);
    assert_non_null(block);
    hak_free(block);
}

static bool allocate_inside(size_t wanted_bytes, void *context)
{
    (void)wanted_bytes;
    (void)context;
    program.call_count++;
    void *block = hak_malloc(24);
    hak_free(block);
    (void)hak_trim(0);
    empty_hoard();
    return program.call_count == 1;
}

static void the_callback_may_use_the_heap(void **state)
{
    (void)state;
    fill_hoard();
    hak_limit_set_callback(allocate_inside, NULL);
    // Room for a slab, and for the records of a lane: the thread may have moved to another processor.
    (void)hak_limit_set(committed_bytes() + (1 << 18));
    void *block = hak_aligned_alloc(4096, 1 << 20);
    assert_non_null(block);
    assert_int_equal(program.call_count, 1);
    hak_free(block);
}

static void the_limit_is_told_as_it_was_set(void **state)
{
    (void)state;
    char value[32];
    assert_int_equal(hak_limit_set(123 << 20), 0);
    assert_int_equal(hak_limit_get(), 123 << 20);
    assert_int_equal(hak_ctl_get("HAKMEM_LIMIT", value, sizeof value), 0);
    assert_string_equal(value, "123MiB");
    assert_int_equal(hak_ctl_set("HAKMEM_LIMIT", "77MiB"), 0);
    assert_int_equal(hak_limit_set(0), 77 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_full_limit_is_enomem_and_never_passed, start),
        cmocka_unit_test_setup(the_callback_makes_room_and_the_allocation_succeeds, start),
        cmocka_unit_test_setup(a_callback_that_promises_in_vain_is_asked_only_so_often, start),
        cmocka_unit_test_setup(a_callback_that_gives_up_ends_the_matter, start),
        cmocka_unit_test_setup(what_is_dirty_or_in_a_stock_is_given_back_before_anybody_is_asked,
                               start),
        cmocka_unit_test_setup(the_system_that_refuses_is_not_the_programs_fault, start),
        cmocka_unit_test_setup(the_callback_may_use_the_heap, start),
        cmocka_unit_test_setup(the_limit_is_told_as_it_was_set, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
