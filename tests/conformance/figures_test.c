// mallinfo, mallinfo2, malloc_trim, mallopt, malloc_stats and malloc_info tell of the heap that is in
// use.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1000,
    BLOCK_COUNT = 30000,
    LIVE_BYTES = BLOCK_BYTES * BLOCK_COUNT,
    LARGE_BYTES = 20 << 20,
};

static char *blocks[BLOCK_COUNT];

// Blocks big enough to be mapped apart are counted in hblkhd by glibc.
static size_t in_use_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void take_all(void)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
}

// All but the last, so that glibc's heap does not simply end earlier.
static void give_all_but_last(void)
{
    for (size_t i = 0; i + 1 < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
}

static void mallinfo_counts_live_bytes(void)
{
    size_t before = in_use_bytes();
    take_all();
    EXPECT(in_use_bytes() >= before + LIVE_BYTES);
    EXPECT_AT_MOST(in_use_bytes(), before + LIVE_BYTES + LIVE_BYTES / 10);
    struct mallinfo2 info = mallinfo2();
    EXPECT(info.arena + info.hblkhd >= LIVE_BYTES);
    EXPECT_AT_MOST(info.uordblks + info.fordblks, info.arena + 4096);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo narrow = mallinfo();
#pragma GCC diagnostic pop
    EXPECT((size_t)(unsigned)narrow.uordblks + (size_t)(unsigned)narrow.hblkhd >= LIVE_BYTES);
}

static void mallinfo_counts_a_large_block(void)
{
    size_t before = in_use_bytes();
    void *block = malloc(hidden(LARGE_BYTES));
    REQUIRE(block != NULL);
    EXPECT(in_use_bytes() >= before + LARGE_BYTES);
    free(block);
    EXPECT_AT_MOST(in_use_bytes(), before + 4096);
}

static void trim_gives_memory_back(void)
{
    size_t full_rss_bytes = process_rss_bytes();
    size_t before = in_use_bytes();
    give_all_but_last();
    EXPECT(in_use_bytes() + LIVE_BYTES / 10 * 9 <= before);
    EXPECT(malloc_trim(0) == 1);
    EXPECT_AT_MOST(process_rss_bytes() + LIVE_BYTES / 10 * 8, full_rss_bytes);
    free(blocks[BLOCK_COUNT - 1]);
}

static void mallopt_is_honest(void)
{
    EXPECT(mallopt(12345, 1) == 0 || !check_has_hakmem());
    int answer = mallopt(M_TRIM_THRESHOLD, 1 << 20);
    EXPECT(answer == 0 || answer == 1);
    answer = mallopt(M_ARENA_MAX, 2);
    EXPECT(answer == 0 || answer == 1);
}

// The text must be one XML element in which every tag that opens also closes.
static bool is_well_formed(const char *xml)
{
    int depth = 0;
    size_t tag_count = 0;
    const char *cursor = xml;
    while ((cursor = strchr(cursor, '<')) != NULL) {
        const char *end = strchr(cursor, '>');
        if (end == NULL) {
            return false;
        }
        bool is_closing = cursor[1] == '/';
        bool is_empty = end[-1] == '/' || cursor[1] == '?' || cursor[1] == '!';
        depth += is_closing ? -1 : (is_empty ? 0 : 1);
        if (depth < 0) {
            return false;
        }
        tag_count++;
        cursor = end;
    }
    return depth == 0 && tag_count >= 2;
}

// The largest number in quotes in the text.
static size_t largest_number(const char *xml)
{
    size_t largest = 0;
    for (const char *cursor = xml; (cursor = strchr(cursor, '"')) != NULL; cursor++) {
        size_t value = strtoull(cursor + 1, NULL, 10);
        largest = value > largest ? value : largest;
    }
    return largest;
}

// The free blocks of a size fill what is told to be their total.
static void sizes_add_up(const char *xml)
{
    for (const char *line = xml; (line = strstr(line, "<size ")) != NULL; line++) {
        size_t from_bytes = 0;
        size_t to_bytes = 0;
        size_t total_bytes = 0;
        size_t count = 0;
        REQUIRE(sscanf(line, "<size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\"",
                       &from_bytes, &to_bytes, &total_bytes, &count) == 4);
        EXPECT(from_bytes * count <= total_bytes && total_bytes <= to_bytes * count);
    }
}

static void malloc_info_is_xml_with_figures(void)
{
    char *text = NULL;
    size_t text_bytes = 0;
    take_all();
    FILE *stream = open_memstream(&text, &text_bytes);
    REQUIRE(stream != NULL);
    EXPECT(malloc_info(0, stream) == 0);
    EXPECT(malloc_info(1, stream) != 0);
    (void)fclose(stream);
    EXPECT(strncmp(text, "<malloc", 7) == 0 || strncmp(text, "<?xml", 5) == 0);
    EXPECT(is_well_formed(text));
    EXPECT(largest_number(text) >= LIVE_BYTES);
    sizes_add_up(text);
    free(text);
    give_all_but_last();
    free(blocks[BLOCK_COUNT - 1]);
}

// malloc_stats writes to standard error; it is sent into a pipe meanwhile.
static void malloc_stats_says_something(void)
{
    char text[4096] = "";
    int ends[2];
    int saved_fd = dup(STDERR_FILENO);
    REQUIRE(pipe(ends) == 0 && saved_fd >= 0);
    (void)dup2(ends[1], STDERR_FILENO);
    malloc_stats();
    (void)fflush(stderr);
    (void)dup2(saved_fd, STDERR_FILENO);
    (void)close(ends[1]);
    ssize_t got = read(ends[0], text, sizeof(text) - 1);
    EXPECT(got > 20);
    EXPECT(strpbrk(text, "123456789") != NULL);
    (void)close(ends[0]);
    (void)close(saved_fd);
}

int main(void)
{
    (void)alarm(30);
    mallinfo_counts_live_bytes();
    mallinfo_counts_a_large_block();
    trim_gives_memory_back();
    malloc_info_is_xml_with_figures();
    malloc_stats_says_something();
    mallopt_is_honest();
    return check_result();
}
