// The page heap once the heap is big: its arenas are backed by huge pages.
// SPDX-License-Identifier: MIT
#include "budget_check.h"
#include "os/os_memory.h"
#include "policy/gates.h"
#include "region/page_heap.h"
#include "unit_check.h"

#include <string.h>
#include <sys/mman.h>

enum {
    FILL_COUNT = 256,  // spans of a chunk, more than the first arenas hold
    REST_UNITS = CHUNK_UNIT_COUNT - 1,
};

static struct span *filling[FILL_COUNT];
static size_t filling_count;

// Takes all of the memory that isn't huge, so that the next span comes out of a huge chunk.
static int start_huge(void **state)
{
    (void)state;
    if (os_huge_page_bytes() != CHUNK_BYTES) {
        return 0;
    }
    gate_store_live(&gates.huge_pages, 1);
    struct span *span = NULL;
    do {
        span = page_heap_take(CHUNK_UNIT_COUNT);
        filling[filling_count++] = span;
    } while (!page_map_is_huge(span->base) && filling_count < FILL_COUNT);
    return page_map_is_huge(span->base) ? 0 : -1;
}

// A span at the start of a chunk that nothing else is in, where the kernel has huge pages of that size.
static struct span *take_from_fresh_chunk(size_t unit_count)
{
    (void)page_heap_purge(0);
    struct span *span = page_heap_take(unit_count);
    assert_non_null(span);
    if (!page_map_is_huge(span->base)) {
        skip();
    }
    return span;
}

// An emulator (qemu) knows no MADV_POPULATE_WRITE.
static void skip_without_populate(void)
{
    if (is_emulated()) {
        skip();
    }
}

static size_t resident_pages(uintptr_t address, size_t bytes)
{
    unsigned char pages[CHUNK_BYTES / 4096];
    size_t count = 0;
    assert_true(bytes <= CHUNK_BYTES);
    assert_int_equal(mincore((void *)address, bytes, pages), 0);
    for (size_t i = 0; i < bytes / 4096; i++) {
        count += pages[i] & 1;
    }
    return count;
}

static void what_is_not_wanted_of_a_chunk_is_dirty_and_counted(void **state)
{
    (void)state;
    skip_without_populate();
    (void)page_heap_purge(0);
    size_t committed_bytes = committed_page_bytes();
    struct span *span = take_from_fresh_chunk(1);
    assert_int_equal(span->base % CHUNK_BYTES, 0);
    assert_true(span->is_dirty);
    assert_int_equal(committed_page_bytes(), committed_bytes + CHUNK_BYTES);
    assert_int_equal(page_heap_dirty_bytes(), REST_UNITS * (size_t)UNIT_BYTES);
    assert_int_equal(resident_pages(span->base, CHUNK_BYTES), CHUNK_BYTES / 4096);
    struct span *next = page_heap_take(REST_UNITS);
    assert_int_equal(next->base, span->base + UNIT_BYTES);
    page_heap_give(next);
    page_heap_give(span);
}

static void a_whole_chunk_is_purged_and_stays_huge(void **state)
{
    (void)state;
    struct span *span = take_from_fresh_chunk(CHUNK_UNIT_COUNT);
    uintptr_t base = span->base;
    memset((void *)base, 1, CHUNK_BYTES);
    page_heap_give(span);
    assert_int_equal(page_heap_purge(0), CHUNK_BYTES);
    assert_true(page_map_is_huge(base));
    assert_int_equal(resident_pages(base, CHUNK_BYTES), 0);
}

// Otherwise the rest of the chunk would bring the purged part back.
static void a_chunk_of_which_a_part_is_purged_is_huge_no_longer(void **state)
{
    (void)state;
    skip_without_populate();
    struct span *used = take_from_fresh_chunk(1);
    uintptr_t base = used->base;
    assert_int_equal(page_heap_purge(0), REST_UNITS * (size_t)UNIT_BYTES);
    assert_false(page_map_is_huge(base));
    assert_int_equal(resident_pages(base, CHUNK_BYTES), UNIT_BYTES / 4096);
    memset((void *)base, 2, UNIT_BYTES);
    assert_int_equal(resident_pages(base, CHUNK_BYTES), UNIT_BYTES / 4096);
    page_heap_give(used);
}

static void whole_chunks_go_before_parts_of_others(void **state)
{
    (void)state;
    struct span *first = take_from_fresh_chunk(CHUNK_UNIT_COUNT + 2);
    uintptr_t base = first->base;
    struct span *neighbour = page_heap_take(1);
    assert_int_equal(neighbour->base, span_end(first));
    page_heap_give(first);
    size_t dirty_bytes = page_heap_dirty_bytes();
    assert_int_equal(page_heap_purge(dirty_bytes - 1), CHUNK_BYTES);
    assert_true(page_map_is_huge(base));
    assert_int_equal(resident_pages(base, CHUNK_BYTES), 0);
    page_heap_give(neighbour);
}

static void under_the_limit_no_more_is_taken_than_asked_for(void **state)
{
    (void)state;
    (void)page_heap_purge(0);
    size_t committed_bytes = committed_page_bytes();
    budget_add(&budget.limit_bytes, budget_read(&budget.committed_bytes) + 2 * UNIT_BYTES);
    struct span *span = page_heap_take(2);
    assert_non_null(span);
    assert_null(page_heap_take(1));
    assert_false(page_map_is_huge(span->base));
    assert_int_equal(committed_page_bytes(), committed_bytes + 2 * UNIT_BYTES);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
    page_heap_give(span);
}

// Chunks taken whole, out of every kind of free span.
static void a_chunk_is_aligned_huge_and_resident_whatever_it_was(void **state)
{
    (void)state;
    skip_without_populate();
    struct span *chunks[6];
    (void)page_heap_purge(0);
    for (int round = 0; round < 4; round++) {
        size_t used_bytes = committed_page_bytes() - page_heap_dirty_bytes();
        gate_store_live(&gates.huge_pages, round % 2 == 0 ? 1ull << 40 : 1);
        for (size_t i = 0; i < 6; i++) {
            chunks[i] = page_heap_take_chunk();
            assert_non_null(chunks[i]);
            assert_int_equal(chunks[i]->base % CHUNK_BYTES, 0);
            assert_int_equal(chunks[i]->unit_count, CHUNK_UNIT_COUNT);
            assert_int_equal(resident_pages(chunks[i]->base, CHUNK_BYTES), CHUNK_BYTES / 4096);
            assert_true(page_map_is_huge(chunks[i]->base) || os_huge_page_bytes() != CHUNK_BYTES);
            for (size_t unit = 0; unit < CHUNK_UNIT_COUNT; unit++) {
                assert_ptr_equal(span_of(chunks[i]->base + unit * UNIT_BYTES), chunks[i]);
            }
            memset((void *)chunks[i]->base, (int)i, CHUNK_BYTES);
        }
        assert_int_equal(committed_page_bytes() - page_heap_dirty_bytes(),
                         used_bytes + 6 * (size_t)CHUNK_BYTES);
        for (size_t i = 0; i < 6; i++) {
            assert_true(is_filled_with((void *)chunks[i]->base, (unsigned char)i, CHUNK_BYTES));
            page_heap_give(chunks[i]);
        }
        assert_int_equal(committed_page_bytes() - page_heap_dirty_bytes(), used_bytes);
        if (round == 1) {
            (void)page_heap_purge(0);
        }
    }
    gate_store_live(&gates.huge_pages, 1);
}

// A dirty span of small pages that begins in the middle of a chunk.
static void what_lies_round_a_chunk_stays_free(void **state)
{
    (void)state;
    gate_store_live(&gates.huge_pages, 0);
    (void)page_heap_purge(0);
    struct span *first = page_heap_take(1);
    struct span *span = NULL;
    struct span *longer[40];
    size_t count = 0;
    do {
        span = page_heap_take(SLAB_UNITS_MOST);
        longer[count++] = span;
    } while (count < 40 && (span->base % CHUNK_BYTES == 0 || page_map_is_huge(span->base)));
    if (span->base % CHUNK_BYTES != 0 && !page_map_is_huge(span->base)) {
        uintptr_t base = span->base;
        memset((void *)base, 1, SLAB_UNITS_MOST * (size_t)UNIT_BYTES);
        page_heap_give(span);
        count--;
        size_t dirty_bytes = page_heap_dirty_bytes();
        struct span *chunk = page_heap_take_chunk();
        assert_int_equal(page_heap_dirty_bytes(), dirty_bytes - CHUNK_BYTES);
        assert_false(page_map_is_huge(chunk->base));  // the gate says never
        page_heap_give(chunk);
        assert_int_equal(page_heap_dirty_bytes(), dirty_bytes);
    }
    for (size_t i = 0; i < count; i++) {
        page_heap_give(longer[i]);
    }
    page_heap_give(first);
    gate_store_live(&gates.huge_pages, 1);
    (void)page_heap_purge(0);
    assert_int_equal(page_heap_dirty_bytes(), 0);
}

static void at_the_limit_there_is_no_chunk(void **state)
{
    (void)state;
    (void)page_heap_purge(0);
    size_t committed_bytes = budget_read(&budget.committed_bytes);
    budget_add(&budget.limit_bytes, committed_bytes + CHUNK_BYTES - 1);
    assert_null(page_heap_take_chunk());
    assert_int_equal(budget_read(&budget.committed_bytes), committed_bytes);
    budget_subtract(&budget.limit_bytes, budget_read(&budget.limit_bytes));
}

// Windows lose their huge pages one by one, whatever their spans were merged to before.
static void spans_of_two_windows_stay_apart(void **state)
{
    (void)state;
    struct span *spans[2 * WINDOW_BYTES / CHUNK_BYTES];
    size_t count = sizeof spans / sizeof spans[0];
    for (size_t i = 0; i < count; i++) {
        spans[i] = page_heap_take(CHUNK_UNIT_COUNT);
        assert_non_null(spans[i]);
    }
    for (size_t i = 0; i < count; i++) {
        page_heap_give(spans[i]);
    }
    for (size_t unit_count = SLAB_UNITS_MOST; unit_count != 0; unit_count /= 2) {
        struct span *span = page_heap_take(unit_count);
        if (page_map_is_huge(span->base)) {
            assert_int_equal(span->base / WINDOW_BYTES, (span_end(span) - 1) / WINDOW_BYTES);
        }
        page_heap_give(span);
    }
    (void)page_heap_purge(0);
    assert_int_equal(page_heap_dirty_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_wanted_of_a_chunk_is_dirty_and_counted),
        cmocka_unit_test(a_whole_chunk_is_purged_and_stays_huge),
        cmocka_unit_test(whole_chunks_go_before_parts_of_others),
        cmocka_unit_test(spans_of_two_windows_stay_apart),
        cmocka_unit_test(a_chunk_of_which_a_part_is_purged_is_huge_no_longer),
        cmocka_unit_test(a_chunk_is_aligned_huge_and_resident_whatever_it_was),
        cmocka_unit_test(what_lies_round_a_chunk_stays_free),
        cmocka_unit_test(at_the_limit_there_is_no_chunk),
        cmocka_unit_test(under_the_limit_no_more_is_taken_than_asked_for),
    };
    return cmocka_run_group_tests(tests, start_huge, NULL);
}
