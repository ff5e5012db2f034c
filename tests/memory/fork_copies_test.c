// After a fork the parent writes here and there in its heap: what is copied for it is near the pages that
// it writes, not a huge page for each.  Prints the sum of what both processes hold.
// SPDX-License-Identifier: MIT
//
// Argument: the heap's size in MiB.
#include "test_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1000,
    STEP_BYTES = 64 << 10,  // a byte in each is written
    PAGE_BYTES = 4096,
    TEXT_BYTES = 4096,
    SLACK_BYTES = 24 << 20,
};

static struct {
    char **blocks;
    size_t count;
} heap;

static size_t pss_bytes(pid_t pid)
{
    char path[64];
    char text[TEXT_BYTES] = {0};
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    const char *line = length > 0 ? strstr(text, "\nPss:") : NULL;
    (void)close(file);
    REQUIRE(line != NULL);
    return (size_t)strtoull(line + strlen("\nPss:"), NULL, 10) << 10;
}

// Writes a byte in each step of the heap; returns how many.
static size_t write_sparsely(void)
{
    size_t written_count = 0;
    for (size_t i = 0; i < heap.count; i += STEP_BYTES / BLOCK_BYTES) {
        heap.blocks[i][0]++;
        written_count++;
    }
    return written_count;
}

static void compare(pid_t child)
{
    size_t before_bytes = pss_bytes(getpid()) + pss_bytes(child);
    size_t written_count = write_sparsely();
    size_t after_bytes = pss_bytes(getpid()) + pss_bytes(child);
    (void)printf("%zu MiB in both before, %zu after writing to %zu places\n", before_bytes >> 20,
                 after_bytes >> 20, written_count);
    EXPECT_AT_MOST(after_bytes, before_bytes + 2 * written_count * PAGE_BYTES + SLACK_BYTES);
}

int main(int argc, char **argv)
{
    int pipe_ends[2];
    int status = -1;
    (void)alarm(100);
    REQUIRE(argc == 2 && pipe(pipe_ends) == 0);
    heap.count = (strtoull(argv[1], NULL, 10) << 20) / BLOCK_BYTES;
    heap.blocks = malloc(heap.count * sizeof *heap.blocks);
    REQUIRE(heap.blocks != NULL);
    for (size_t i = 0; i < heap.count; i++) {
        heap.blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(heap.blocks[i] != NULL);
        memset(heap.blocks[i], 1, BLOCK_BYTES);
    }
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        char word = 0;
        (void)close(pipe_ends[1]);
        _exit(read(pipe_ends[0], &word, 1) == 0 ? 0 : 1);  // until the parent has measured
    }
    compare(child);
    (void)close(pipe_ends[1]);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    return check_result();
}
