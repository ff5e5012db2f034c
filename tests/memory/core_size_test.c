// A core dump is about as big as the memory in use: what the kernel would write is summed up from the
// mappings that hold anonymous pages and are not marked as kept out of dumps.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "shadow_model.h"
#include "test_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    USED_BYTES = 50 << 20,
    BLOCK_BYTES = 3000,
    TEXT_BYTES = 8 << 20,
};

static char *read_smaps(void)
{
    char *text = shadow_map(TEXT_BYTES);
    size_t length = 0;
    ssize_t got;
    int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    while (length + 1 < TEXT_BYTES &&
           (got = read(fd, text + length, TEXT_BYTES - 1 - length)) > 0) {
        length += (size_t)got;
    }
    (void)close(fd);
    return text;
}

// The number of KiB in the line that begins with `name`, if `line` is that line.
static void read_field(const char *line, const char *name, size_t *kib)
{
    if (strncmp(line, name, strlen(name)) == 0) {
        *kib = strtoull(line + strlen(name), NULL, 10);
    }
}

static size_t dump_bytes(void)
{
    char *text = read_smaps();
    size_t total_kib = 0;
    size_t size_kib = 0;
    size_t anonymous_kib = 0;
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        read_field(line, "Size:", &size_kib);
        read_field(line, "Anonymous:", &anonymous_kib);
        if (strncmp(line, "VmFlags:", 8) == 0) {
            *end = '\0';
            total_kib += anonymous_kib > 0 && strstr(line, " dd") == NULL ? size_kib : 0;
        }
        line = end == NULL ? NULL : end + 1;
    }
    shadow_unmap(text, TEXT_BYTES);
    return total_kib << 10;
}

int main(void)
{
    (void)alarm(20);
    size_t block_count = USED_BYTES / BLOCK_BYTES;
    void **blocks = shadow_map(block_count * sizeof(void *));
    for (size_t i = 0; i < block_count; i++) {
        blocks[i] = malloc(hidden(BLOCK_BYTES));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    size_t rss_bytes = process_rss_bytes();
    EXPECT(dump_bytes() >= USED_BYTES);
    EXPECT_AT_MOST(dump_bytes(), 2 * rss_bytes);
    for (size_t i = 0; i < block_count; i++) {
        free(blocks[i]);
    }
    return check_result();
}
