// Bytes in huge pages of a small heap: the backend ULTRA against slabs, and what it costs in RSS.
// SPDX-License-Identifier: MIT
//
// The program runs itself for each figure: "huge" and "rss".
#include "process_memory.h"
#include "random_stream.h"
#include "run_self.h"
#include "test_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1000,
    BLOCK_COUNT = 6000,  // of a heap that is too small to grow in huge pages by itself
    CHUNK_BYTES = 2 << 20,
    VISIT_COUNT = 4000000,
};

static void *blocks[BLOCK_COUNT];

static void take_all(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
}

// Of the whole process; a line that isn't there is none.
static size_t huge_page_bytes(void)
{
    char line[256];
    size_t sum_kib = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        size_t kib = 0;
        sum_kib += sscanf(line, "AnonHugePages: %zu kB", &kib) == 1 ? kib : 0;
    }
    (void)fclose(maps);
    return sum_kib << 10;
}

static bool has_huge_pages(void)
{
    char words[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file == NULL) {
        return false;
    }
    bool is_read = fgets(words, sizeof words, file) != NULL;
    (void)fclose(file);
    return is_read && strstr(words, "[never]") == NULL && sysconf(_SC_PAGESIZE) == 4096;
}

// Microseconds that reading a word of random blocks takes: for people, nothing is expected of it.
static size_t visit_us(void)
{
    struct timespec start;
    struct timespec end;
    struct random_stream random = {.state = 1};
    size_t sum = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t i = 0; i < VISIT_COUNT; i++) {
        sum += *(volatile size_t *)blocks[random_below(&random, BLOCK_COUNT)];
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    REQUIRE(sum != 0);
    return (size_t)((end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000);
}

static void print_figure(const char *name)
{
    size_t before_bytes = process_rss_bytes();
    if (strcmp(name, "rss") == 0) {
        take_all(1);
        (void)printf("%zu\n", process_rss_bytes() - before_bytes);
        return;
    }
    take_all(BLOCK_COUNT);
    (void)printf("%zu\n", strcmp(name, "huge") == 0 ? huge_page_bytes() : visit_us());
}

int main(int argc, char **argv)
{
    static const char off[] = "HAKMEM_TINY_C7_ULTRA_ENABLED=off";
    static const char on[] = "HAKMEM_TINY_C7_ULTRA_ENABLED=on";
    (void)alarm(100);
    if (argc == 2) {
        print_figure(argv[1]);
        return check_result();
    }
    if (!has_huge_pages()) {
        check_skip("the kernel has no huge pages to give");
    }
    size_t huge_off = run_self_for_number(argv[0], "huge", off);
    size_t huge_on = run_self_for_number(argv[0], "huge", on);
    size_t rss_off = run_self_for_number(argv[0], "rss", off);
    size_t rss_on = run_self_for_number(argv[0], "rss", on);
    (void)printf("%d blocks: %zu kB in huge pages from slabs, %zu kB from segments\n", BLOCK_COUNT,
                 huge_off / 1000, huge_on / 1000);
    (void)printf("one block: %zu kB resident, %zu kB\n", rss_off / 1000, rss_on / 1000);
    (void)printf("%d visits: %zu us, %zu us\n", VISIT_COUNT,
                 run_self_for_number(argv[0], "time", off),
                 run_self_for_number(argv[0], "time", on));
    EXPECT_AT_MOST(huge_off, 0);
    EXPECT(huge_on >= BLOCK_COUNT * (size_t)BLOCK_BYTES / CHUNK_BYTES * CHUNK_BYTES);
    EXPECT_AT_MOST(rss_on, rss_off + 2 * (size_t)CHUNK_BYTES);
    return check_result();
}
