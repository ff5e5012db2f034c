// SPDX-License-Identifier: MIT
#include "base/bits.h"
#include "os/os_memory.h"
#include "unit_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ALIGN_BYTES_MOST = 256 << 20,
    PAGE_COUNT = 16,
};

static void the_page_size_is_the_kernels(void **state)
{
    (void)state;
    assert_int_equal(os_page_bytes(), sysconf(_SC_PAGESIZE));
}

static void memory_is_aligned_zeroed_and_writable(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    for (size_t align_bytes = page_bytes; align_bytes <= ALIGN_BYTES_MOST; align_bytes *= 2) {
        size_t bytes = 3 * page_bytes;
        char *memory = os_map(bytes, align_bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % align_bytes, 0);
        assert_true(is_filled_with(memory, 0, bytes));
        memset(memory, 1, bytes);
        assert_int_equal(os_unmap(memory, bytes), 0);
    }
}

static size_t address_space_bytes(void)
{
    size_t pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%zu", &pages), 1);
    (void)fclose(statm);
    return pages * os_page_bytes();
}

// What is cut off a wide mapping must be exactly what was not asked for.
static void nothing_around_an_aligned_map_stays_mapped(void **state)
{
    (void)state;
    enum {
        COUNT = 8
    };
    size_t page_bytes = os_page_bytes();
    char *maps[COUNT];
    if (is_emulated()) {
        skip();  // the figures are those of the emulator, which maps for itself
    }
    (void)address_space_bytes();  // libc's own first mappings
    size_t before = address_space_bytes();
    for (size_t i = 0; i < COUNT; i++) {
        maps[i] = os_map(page_bytes, 64 << 20);
        assert_non_null(maps[i]);
        assert_true(is_mapped(maps[i]));
    }
    assert_int_equal(address_space_bytes(), before + COUNT * page_bytes);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(os_unmap(maps[i], page_bytes), 0);
        assert_false(is_mapped(maps[i]));
    }
    assert_int_equal(address_space_bytes(), before);
}

static void too_much_is_refused_and_errno_left_alone(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    errno = 77;
    assert_null(os_map((size_t)1 << 60, page_bytes));
    assert_null(os_map(align_down(SIZE_MAX, page_bytes), (size_t)1 << 40));
    assert_int_not_equal(os_unmap((void *)1, page_bytes), 0);
    if (!is_emulated()) {
        assert_int_not_equal(os_purge((void *)page_bytes, page_bytes), 0);
    }
    assert_null(os_resize((void *)page_bytes, page_bytes, 2 * page_bytes));
    assert_int_equal(errno, 77);
}

static void purged_pages_read_zero_and_the_others_are_kept(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    char *memory = os_map(PAGE_COUNT * page_bytes, page_bytes);
    memset(memory, 9, PAGE_COUNT * page_bytes);
    assert_int_equal(os_purge(memory + 3 * page_bytes, 4 * page_bytes), 0);
    assert_true(is_filled_with(memory, 9, 3 * page_bytes));
    assert_true(is_filled_with(memory + 3 * page_bytes, 0, 4 * page_bytes));
    assert_true(is_filled_with(memory + 7 * page_bytes, 9, (PAGE_COUNT - 7) * page_bytes));
    assert_int_equal(os_unmap(memory, PAGE_COUNT * page_bytes), 0);
}

static void a_resized_mapping_keeps_its_pages_wherever_it_goes(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    char *memory = os_map(2 * page_bytes, page_bytes);
    memset(memory, 5, 2 * page_bytes);
    // A mapping behind it, if the place is free: then there is no room to grow.
    (void)mmap(memory + 2 * page_bytes, page_bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    char *grown = os_resize(memory, 2 * page_bytes, PAGE_COUNT * page_bytes);
    assert_non_null(grown);
    assert_ptr_not_equal(grown, memory);
    assert_true(is_filled_with(grown, 5, 2 * page_bytes));
    assert_true(is_filled_with(grown + 2 * page_bytes, 0, (PAGE_COUNT - 2) * page_bytes));
    char *shrunk = os_resize(grown, PAGE_COUNT * page_bytes, page_bytes);
    assert_ptr_equal(shrunk, grown);
    assert_true(is_filled_with(shrunk, 5, page_bytes));
    assert_false(is_mapped(shrunk + page_bytes));
    assert_int_equal(os_unmap(shrunk, page_bytes), 0);
}

static void a_guard_cannot_be_read_or_written(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    char *memory = os_map(3 * page_bytes, page_bytes);
    assert_int_equal(os_guard(memory + page_bytes, page_bytes), 0);
    memory[page_bytes - 1] = 1;
    memory[2 * page_bytes] = 1;
    assert_faults(memory + page_bytes);
    assert_faults(memory + 2 * page_bytes - 1);
    assert_int_equal(os_unmap(memory, 3 * page_bytes), 0);
}

// Splits a reserved range into so many mappings that the process may have no more; NULL where it may have
// very many.
static char *use_up_mappings(size_t bytes)
{
    size_t page_bytes = os_page_bytes();
    char *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t distance = 0; range != MAP_FAILED && distance < bytes; distance += 2 * page_bytes) {
        if (mprotect(range + distance, page_bytes, PROT_READ) != 0) {
            return range;
        }
    }
    return NULL;
}

enum {
    FAILED = 1,
    NO_LIMIT_MET = 2,
};  // the child's exit status

static int discard_at_the_limit_of_mappings(void)
{
    size_t page_bytes = os_page_bytes();
    size_t range_bytes = 2 * page_bytes * 100000;
    char *memory = os_map(PAGE_COUNT * page_bytes, page_bytes);
    char *range = use_up_mappings(range_bytes);
    if (memory == NULL || range == NULL) {
        return range == NULL ? NO_LIMIT_MET : FAILED;
    }
    memset(memory, 9, PAGE_COUNT * page_bytes);
    if (os_unmap(memory + page_bytes, page_bytes) != ENOMEM) {
        return FAILED;
    }
    os_discard(memory + page_bytes, 2 * page_bytes);
    os_discard(memory + 5 * page_bytes, page_bytes);
    bool is_kept = is_mapped(memory + page_bytes) && memory[2 * page_bytes] == 0;
    if (!is_kept || os_unmap_discarded() != 0 || munmap(range, range_bytes) != 0) {
        return FAILED;
    }
    bool is_gone = os_unmap_discarded() == 3 * page_bytes && !is_mapped(memory + page_bytes) &&
                   !is_mapped(memory + 5 * page_bytes) && os_unmap_discarded() == 0;
    return is_gone && is_filled_with(memory + 3 * page_bytes, 9, 2 * page_bytes) ? 0 : FAILED;
}

static void what_cannot_be_unmapped_now_is_unmapped_later(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        _exit(discard_at_the_limit_of_mappings());
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_LIMIT_MET) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_system_call_is_counted(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    size_t before = os_memory_call_count();
    char *memory = os_map(page_bytes, page_bytes);
    assert_int_equal(os_memory_call_count(), before + 1);
    assert_int_equal(os_purge(memory, page_bytes), 0);
    os_avoid_huge_pages(memory, page_bytes);
    assert_int_equal(os_guard(memory, page_bytes), 0);
    assert_int_equal(os_unmap(memory, page_bytes), 0);
    assert_int_equal(os_memory_call_count(), before + 5);
}

static void what_can_be_read_is_told(void **state)
{
    (void)state;
    size_t page_bytes = os_page_bytes();
    static const char constant[16] __attribute__((aligned(8))) = "text";
    char *memory = os_map(3 * page_bytes, page_bytes);
    assert_non_null(memory);
    assert_int_equal(os_unmap(memory + page_bytes, page_bytes), 0);
    assert_int_equal(os_guard(memory + 2 * page_bytes, page_bytes), 0);
    errno = 77;
    assert_true(os_can_read(constant));
    assert_true(os_can_read(memory));
    assert_true(os_can_read(memory + page_bytes - 8));
    assert_false(os_can_read(memory + page_bytes));
    assert_false(os_can_read(memory + 2 * page_bytes));
    assert_false(os_can_read(NULL));
    assert_false(os_can_read((void *)((uintptr_t)1 << 60)));
    assert_int_equal(errno, 77);
    assert_int_equal(os_unmap(memory, 3 * page_bytes), 0);
}

static void the_break_lies_above_the_program(void **state)
{
    (void)state;
    static char last[1];
    char *end = sbrk(0);
    assert_int_equal(os_break(), (uintptr_t)end);
    assert_true(os_program_end() > (uintptr_t)last);
    assert_true(os_program_end() - (uintptr_t)last < 64 << 20);
    assert_true(os_program_end() <= (uintptr_t)end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_size_is_the_kernels),
        cmocka_unit_test(memory_is_aligned_zeroed_and_writable),
        cmocka_unit_test(nothing_around_an_aligned_map_stays_mapped),
        cmocka_unit_test(too_much_is_refused_and_errno_left_alone),
        cmocka_unit_test(purged_pages_read_zero_and_the_others_are_kept),
        cmocka_unit_test(a_resized_mapping_keeps_its_pages_wherever_it_goes),
        cmocka_unit_test(a_guard_cannot_be_read_or_written),
        cmocka_unit_test(what_cannot_be_unmapped_now_is_unmapped_later),
        cmocka_unit_test(every_system_call_is_counted),
        cmocka_unit_test(what_can_be_read_is_told),
        cmocka_unit_test(the_break_lies_above_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
