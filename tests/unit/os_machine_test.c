// That the machine which os_machine.h simulates is in force, and that it notices.
// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "os/os_memory.h"
#include "os_machine.h"
#include "policy/gates.h"
#include "stats/budget.h"
#include "unit_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LARGE_BYTES = 300000,
    LONG_BYTES = 40 << 20,
};

static void the_page_size_is_the_machines(void **state)
{
    (void)state;
    const char *setting = getenv("HAK_TEST_PAGE_BYTES");
    size_t expected = setting != NULL ? strtoull(setting, NULL, 10) : (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(os_page_bytes(), expected);
    // A hardened process promises no byte more than was asked for.
    size_t rounded = (LARGE_BYTES / expected + 1) * expected;
    assert_int_equal(hak_good_size(LARGE_BYTES), gates.hardened ? LARGE_BYTES : rounded);
}

static void assert_in_place(const void *block)
{
    const char *setting = getenv("HAK_TEST_TOP_BITS");
    unsigned top_bits = setting != NULL ? (unsigned)strtoul(setting, NULL, 10) : 0;
    assert_non_null(block);
    if (top_bits != 0) {
        assert_int_equal((uintptr_t)block >> (top_bits - 1), 1);
    }
    hak_free((void *)(uintptr_t)block);
}

static void blocks_lie_where_the_machine_has_addresses(void **state)
{
    (void)state;
    assert_in_place(hak_malloc(hidden(16)));
    assert_in_place(hak_malloc(hidden(LARGE_BYTES)));
    assert_in_place(hak_malloc(hidden(LONG_BYTES)));
    assert_in_place(hak_aligned_alloc((size_t)1 << 30, hidden(1)));
    assert_in_place(hak_realloc(hak_malloc(hidden(LONG_BYTES)), hidden((size_t)3 * LONG_BYTES)));
}

// Half the space can't be had on any machine; where nothing is simulated the kernel may give it.
static void more_than_the_space_holds_is_refused(void **state)
{
    (void)state;
    run_only_where(getenv("HAK_TEST_TOP_BITS") != NULL);
    unsigned top_bits = (unsigned)strtoul(getenv("HAK_TEST_TOP_BITS"), NULL, 10);
    assert_null(hak_malloc(hidden((size_t)1 << (top_bits - 1))));
    assert_null(hak_aligned_alloc((size_t)1 << top_bits, hidden(1)));
    if (budget_read(&budget.limit_bytes) == 0) {
        assert_in_place(hak_malloc(hidden((size_t)1 << (top_bits - 5))));
    }
}

static void purge_half_a_page(void *memory)
{
    (void)os_purge(memory, os_page_bytes() / 2);
}

static void a_call_with_a_part_of_a_page_is_noticed(void **state)
{
    (void)state;
    char line[200];
    char *memory = os_map(os_page_bytes(), os_page_bytes());
    (void)snprintf(line, sizeof line, "os_purge of %zu bytes at %p: not whole pages of %zu bytes",
                   os_page_bytes() / 2, (void *)memory, os_page_bytes());
    assert_dies(purge_half_a_page, memory, line);
    assert_int_equal(os_unmap(memory, os_page_bytes()), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_size_is_the_machines),
        cmocka_unit_test(blocks_lie_where_the_machine_has_addresses),
        cmocka_unit_test(more_than_the_space_holds_is_refused),
        cmocka_unit_test(a_call_with_a_part_of_a_page_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
