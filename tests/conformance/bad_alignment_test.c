// Alignments that are no powers of two: as the standard says, or as glibc where it is laxer.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

static void posix_memalign_refuses(size_t align_bytes)
{
    static char mark;
    void *block = &mark;
    errno = 4321;
    EXPECT(posix_memalign(&block, hidden(align_bytes), hidden(100)) == EINVAL);
    EXPECT(block == &mark);
    EXPECT(errno == 4321);
}

// glibc's memalign takes the next power of two.
static void memalign_rounds_up(size_t align_bytes, size_t rounded_bytes)
{
    for (size_t i = 0; i < 16; i++) {
        void *block = memalign(hidden(align_bytes), hidden(24 + 16 * i));
        EXPECT(block != NULL && is_aligned(block, rounded_bytes));
        EXPECT(malloc_usable_size(block) >= 24 + 16 * i);
        free(block);
    }
}

// glibc before 2.38 rounds here too; later ones, and the standard, refuse.
static void aligned_alloc_refuses_or_rounds_up(size_t align_bytes, size_t rounded_bytes)
{
    errno = 0;
    void *block = aligned_alloc(hidden(align_bytes), hidden(100));
    EXPECT(block != NULL ? is_aligned(block, rounded_bytes) : errno == EINVAL);
    free(block);
}

int main(void)
{
    (void)alarm(20);
    posix_memalign_refuses(0);
    posix_memalign_refuses(1);
    posix_memalign_refuses(4);
    posix_memalign_refuses(12);
    posix_memalign_refuses(24);
    posix_memalign_refuses(65);
    posix_memalign_refuses(4095);
    memalign_rounds_up(0, 16);
    memalign_rounds_up(1, 16);
    memalign_rounds_up(3, 16);
    memalign_rounds_up(17, 32);
    memalign_rounds_up(48, 64);
    memalign_rounds_up(100, 128);
    memalign_rounds_up(4097, 8192);
    memalign_rounds_up((2 << 20) + 1, 4 << 20);
    aligned_alloc_refuses_or_rounds_up(48, 64);
    aligned_alloc_refuses_or_rounds_up(3000, 4096);
    aligned_alloc_refuses_or_rounds_up(0, 16);
    return check_result();
}
