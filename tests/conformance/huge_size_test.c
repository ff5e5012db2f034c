// Sizes that cannot be had give NULL and ENOMEM from every function, and harm nothing.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t huge_sizes[] = {
    PTRDIFF_MAX,
    (size_t)PTRDIFF_MAX - 4096,
    (size_t)PTRDIFF_MAX + 1,
    SIZE_MAX,
    SIZE_MAX - 15,
    SIZE_MAX - 16,
    SIZE_MAX - 4095,
    SIZE_MAX - 4096,
    SIZE_MAX - 65535,
    SIZE_MAX - (2u << 20),
    SIZE_MAX / 2 + 2,
    SIZE_MAX - 31,
    (size_t)1 << 62,
};

enum {
    HUGE_COUNT = sizeof(huge_sizes) / sizeof(huge_sizes[0])
};

static void is_refused(void *block, const char *what, int line)
{
    int error = errno;
    (void)check_that(block == NULL, what, line, "NULL");
    (void)check_that(error == ENOMEM, what, line, "errno to be ENOMEM");
}

#define EXPECT_REFUSED(call) is_refused((errno = 0, (call)), #call, __LINE__)

static void a_huge_size_is_refused(size_t bytes)
{
    EXPECT_REFUSED(malloc(bytes));
    EXPECT_REFUSED(calloc(1, bytes));
    EXPECT_REFUSED(calloc(bytes, 1));
    EXPECT_REFUSED(realloc(NULL, bytes));
    EXPECT_REFUSED(reallocarray(NULL, 1, bytes));
    EXPECT_REFUSED(valloc(bytes));
    EXPECT_REFUSED(pvalloc(bytes));
    for (size_t shift = 3; shift < 30; shift += 3) {
        EXPECT_REFUSED(aligned_alloc((size_t)1 << shift, bytes));
        EXPECT_REFUSED(memalign((size_t)1 << shift, bytes));
    }
}

static void posix_memalign_leaves_its_result_alone(size_t bytes)
{
    static char mark;
    for (size_t shift = 3; shift < 30; shift += 3) {
        void *block = &mark;
        errno = 12345;
        EXPECT(posix_memalign(&block, (size_t)1 << shift, bytes) == ENOMEM);
        EXPECT(block == &mark);
    }
}

static void realloc_keeps_the_old_block(size_t old_bytes, size_t bytes)
{
    unsigned char *block = malloc(hidden(old_bytes));
    REQUIRE(block != NULL);
    memset(block, 0x77, old_bytes);
    EXPECT_REFUSED(realloc(hidden_ptr(block), bytes));
    EXPECT_REFUSED(reallocarray(hidden_ptr(block), bytes, 1));
    EXPECT_REFUSED(reallocarray(hidden_ptr(block), bytes, 2));
    for (size_t i = 0; i < old_bytes; i++) {
        REQUIRE(block[i] == 0x77);
    }
    free(block);
}

static void products_that_overflow_are_refused(void)
{
    static const size_t factors[][2] = {
        {(size_t)1 << 33, (size_t)1 << 33},
        {SIZE_MAX, 2},
        {2, SIZE_MAX},
        {SIZE_MAX / 2 + 1, 2},
        {SIZE_MAX, SIZE_MAX},
        {(size_t)1 << 32, (size_t)1 << 32},
        {SIZE_MAX / 16 + 1, 16},
        {3, SIZE_MAX / 3 + 1},
    };
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        size_t count = hidden(factors[i][0]);
        size_t bytes = hidden(factors[i][1]);
        void *block = malloc(64);
        REQUIRE(block != NULL);
        EXPECT_REFUSED(calloc(count, bytes));
        EXPECT_REFUSED(reallocarray(NULL, count, bytes));
        EXPECT_REFUSED(reallocarray(hidden_ptr(block), count, bytes));
        free(block);
    }
}

static void huge_alignments_are_refused(void)
{
    void *block = NULL;
    size_t top_bit = (SIZE_MAX >> 1) + 1;
    errno = 0;
    EXPECT(memalign(hidden(top_bit), hidden(64)) == NULL);
    EXPECT(errno == ENOMEM || errno == EINVAL);
    errno = 0;
    EXPECT(memalign(hidden(top_bit + 1), hidden(64)) == NULL && errno == EINVAL);
    EXPECT(aligned_alloc(hidden(top_bit >> 1), hidden(64)) == NULL);
    EXPECT(posix_memalign(&block, hidden(top_bit >> 1), hidden(64)) == ENOMEM);
    EXPECT(posix_memalign(&block, hidden(top_bit), hidden(64)) == ENOMEM);
}

int main(void)
{
    (void)alarm(20);
    for (size_t i = 0; i < HUGE_COUNT; i++) {
        size_t bytes = hidden(huge_sizes[i]);
        a_huge_size_is_refused(bytes);
        posix_memalign_leaves_its_result_alone(bytes);
        realloc_keeps_the_old_block(100, bytes);
        realloc_keeps_the_old_block(1 << 20, bytes);
    }
    products_that_overflow_are_refused();
    huge_alignments_are_refused();
    return check_result();
}
