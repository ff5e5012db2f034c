// Many small blocks at huge alignments cost address space only as far as they must, and no memory.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    BLOCK_COUNT = 64,
    ALIGN_BYTES = 2 << 20,
    MOST_RSS_BYTES = 4 << 20,
    SLACK_BYTES = 16 << 20,  // arenas grow in steps
};

// A huge page is resident whole for one touched byte: that is what HAKMEM_HUGE_PAGES trades.
static void use_no_huge_pages(void)
{
    int (*set)(const char *gate, const char *value);
    *(void **)&set = check_symbol("hak_ctl_set");
    REQUIRE(set == NULL || set("HAKMEM_HUGE_PAGES", "off") == 0);
}

int main(void)
{
    void *blocks[BLOCK_COUNT];
    (void)alarm(20);
    use_no_huge_pages();
    free(malloc(hidden(100)));
    size_t rss_before = process_rss_bytes();
    size_t vsz_before = process_vsz_bytes();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        REQUIRE(posix_memalign(&blocks[i], ALIGN_BYTES, hidden(1)) == 0);
        EXPECT(is_aligned(blocks[i], ALIGN_BYTES));
        *(char *)blocks[i] = 1;
    }
    EXPECT_AT_MOST(process_rss_bytes(), rss_before + MOST_RSS_BYTES);
    EXPECT_AT_MOST(process_vsz_bytes(), vsz_before + 2ul * ALIGN_BYTES * BLOCK_COUNT + SLACK_BYTES);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    return check_result();
}
