// valloc starts on a page; pvalloc starts on a page and fills whole pages.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t page_bytes;

static void both_give_pages(size_t bytes)
{
    unsigned char *plain = valloc(hidden(bytes));
    unsigned char *whole = pvalloc(hidden(bytes));
    size_t whole_bytes = (bytes + page_bytes - 1) & ~(page_bytes - 1);
    REQUIRE(plain != NULL && whole != NULL);
    EXPECT(is_aligned(plain, page_bytes) && is_aligned(whole, page_bytes));
    EXPECT(malloc_usable_size(plain) >= bytes);
    EXPECT(malloc_usable_size(whole) >= whole_bytes);
    memset(plain, 1, bytes);
    memset(whole, 2, whole_bytes);
    EXPECT(bytes == 0 || plain[bytes - 1] == 1);
    free(plain);
    free(whole);
}

int main(void)
{
    (void)alarm(20);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    both_give_pages(0);
    for (size_t bytes = 1; bytes < 3 << 20; bytes += bytes / 3 + 1) {
        both_give_pages(bytes);
    }
    both_give_pages(page_bytes - 1);
    both_give_pages(page_bytes);
    both_give_pages(page_bytes + 1);
    return check_result();
}
