// A program that treats a page of a large block on its own (madvise, mprotect, mlock) splits the
// mapping, and mremap then refuses to grow it: realloc copies instead.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 8 << 20,
    GROWN_BYTES = 40 << 20,
    SHRUNK_BYTES = 1 << 20,
    STEP_BYTES = 4096,
};

static int leave_out_of_dumps(void *page, size_t bytes)
{
    return madvise(page, bytes, MADV_DONTDUMP);
}

static int make_executable(void *page, size_t bytes)
{
    return mprotect(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int lock_in_memory(void *page, size_t bytes)
{
    return mlock(page, bytes);
}

static void mark(char *block, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += STEP_BYTES) {
        block[at] = (char)(at / STEP_BYTES);
    }
}

static void check_marks(const char *block, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += STEP_BYTES) {
        REQUIRE(block[at] == (char)(at / STEP_BYTES));
    }
}

static void split_and_resize(int (*treat)(void *page, size_t bytes), size_t bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *block = malloc(hidden(BLOCK_BYTES));
    REQUIRE(block != NULL);
    mark(block, BLOCK_BYTES);
    uintptr_t middle = ((uintptr_t)block + BLOCK_BYTES / 2) & ~(page_bytes - 1);
    if (treat((void *)middle, page_bytes) != 0) {
        free(block);  // this machine doesn't allow it
        return;
    }
    char *resized = realloc(block, hidden(bytes));
    REQUIRE(resized != NULL);
    check_marks(resized, bytes < BLOCK_BYTES ? bytes : BLOCK_BYTES);
    mark(resized, bytes);
    check_marks(resized, bytes);
    free(resized);
}

int main(void)
{
    static int (*const treatments[])(void *page, size_t bytes) = {leave_out_of_dumps,
                                                                  make_executable, lock_in_memory};
    (void)alarm(30);
    for (size_t i = 0; i < sizeof(treatments) / sizeof(treatments[0]); i++) {
        split_and_resize(treatments[i], GROWN_BYTES);
        split_and_resize(treatments[i], SHRUNK_BYTES);
        split_and_resize(treatments[i], BLOCK_BYTES + BLOCK_BYTES / 4);
    }
    return check_result();
}
