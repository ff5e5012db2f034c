// Where the system makes huge pages of what is small (transparent huge pages set to "always"), memory that
// was given back does not become resident again.
// SPDX-License-Identifier: MIT
//
// The setting is the whole machine's, so the test doesn't touch it: it asks the system itself to collapse
// each 2 MiB of the process (MADV_COLLAPSE, Linux 6.1), which does at once, setting or not, what the
// system's own thread would do in its own time, and like it obeys the advice on a mapping.
#include "process_memory.h"
#include "test_check.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 4096,
    KEPT_EACH = 33,
    HUGE_BYTES = 2 << 20,
    COLLAPSE = 25,  // MADV_COLLAPSE
    RANGE_MOST = 2000,
    SLACK_BYTES = 8 << 20,
};

static struct {
    char **blocks;
    size_t count;
} held;

static struct {
    uintptr_t starts[RANGE_MOST];
    uintptr_t ends[RANGE_MOST];
    size_t count;
} ranges;

// Anonymous memory without a name.
static void find_ranges(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps != NULL);
    ranges.count = 0;
    while (fgets(line, sizeof line, maps) != NULL && ranges.count < RANGE_MOST) {
        char *rest = NULL;
        uintptr_t start = strtoul(line, &rest, 16);
        uintptr_t end = strtoul(rest + 1, &rest, 16);
        bool is_ours =
            strncmp(rest, " rw-p 00000000 00:00 0", 22) == 0 && strchr(rest, '[') == NULL;
        if (is_ours) {
            ranges.starts[ranges.count] = start;
            ranges.ends[ranges.count++] = end;
        }
    }
    (void)fclose(maps);
}

// How many huge pages there were to make.
static size_t collapse_all(void)
{
    size_t count = 0;
    find_ranges();
    for (size_t i = 0; i < ranges.count; i++) {
        uintptr_t start = (ranges.starts[i] + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
        for (; start + HUGE_BYTES <= ranges.ends[i]; start += HUGE_BYTES) {
            count += madvise((void *)start, HUGE_BYTES, COLLAPSE) == 0;
        }
    }
    return count;
}

static void skip_without_collapse(void)
{
    char *probe =
        mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(probe != MAP_FAILED);
    char *chunk = (char *)(((uintptr_t)probe + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
    *chunk = 1;
    bool is_known = madvise(chunk, HUGE_BYTES, COLLAPSE) == 0;
    (void)munmap(probe, 2 * HUGE_BYTES);
    if (!is_known) {
        check_skip("this kernel doesn't collapse pages on request");
    }
}

static void take_all(size_t total_bytes)
{
    held.count = total_bytes / BLOCK_BYTES;
    held.blocks = malloc(held.count * sizeof *held.blocks);
    REQUIRE(held.blocks != NULL);
    for (size_t i = 0; i < held.count; i++) {
        held.blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(held.blocks[i] != NULL);
        memset(held.blocks[i], 1, BLOCK_BYTES);
    }
}

int main(int argc, char **argv)
{
    (void)alarm(200);
    REQUIRE(argc == 2);
    skip_without_collapse();
    take_all(strtoull(argv[1], NULL, 10) << 20);
    size_t full_bytes = process_rss_bytes();
    for (size_t i = 0; i < held.count; i++) {
        if (i % KEPT_EACH != 0) {
            free(held.blocks[i]);
        }
    }
    size_t before_bytes = process_rss_bytes();
    size_t collapsed_count = collapse_all();
    size_t after_bytes = process_rss_bytes();
    (void)printf("%zu MiB, %zu after freeing, %zu after collapsing %zu huge pages\n",
                 full_bytes >> 20, before_bytes >> 20, after_bytes >> 20, collapsed_count);
    EXPECT_AT_MOST(before_bytes, full_bytes / 3);
    EXPECT_AT_MOST(after_bytes, before_bytes / 10 * 13 + SLACK_BYTES);
    return check_result();
}
