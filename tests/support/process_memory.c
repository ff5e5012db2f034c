// What the kernel says of this process's memory; see process_memory.h.
// SPDX-License-Identifier: MIT
#include "process_memory.h"

#include "test_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t read_number(const char **text)
{
    size_t value = 0;
    while (**text == ' ' || **text == '\t') {
        (*text)++;
    }
    while (**text >= '0' && **text <= '9') {
        value = value * 10 + (size_t)(**text - '0');
        (*text)++;
    }
    return value;
}

static void read_file(const char *path, char *text, size_t bytes)
{
    size_t length = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    while (got > 0 && length + 1 < bytes) {
        got = read(fd, text + length, bytes - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    (void)close(fd);
}

static size_t read_statm(int field_index)
{
    char text[200];
    read_file("/proc/self/statm", text, sizeof(text));
    const char *cursor = text;
    size_t pages = 0;
    for (int i = 0; i <= field_index; i++) {
        pages = read_number(&cursor);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

size_t process_vsz_bytes(void)
{
    return read_statm(0);
}

size_t process_rss_bytes(void)
{
    return read_statm(1);
}

size_t process_peak_rss_bytes(void)
{
    char text[8192];
    read_file("/proc/self/status", text, sizeof(text));
    const char *cursor = strstr(text, "VmHWM:");
    REQUIRE(cursor != NULL);
    cursor += strlen("VmHWM:");
    return read_number(&cursor) << 10;
}

void process_reset_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "5", 1);
        (void)written;
        (void)close(fd);
    }
}

size_t process_map_count(void)
{
    char text[4096];
    size_t count = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    while ((got = read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            count += text[i] == '\n';
        }
    }
    (void)close(fd);
    return count;
}

void sleep_ms(unsigned ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&pause, &pause) != 0) {
    }
}

size_t process_await_rss(size_t limit_bytes, unsigned timeout_ms)
{
    enum {
        STEP_MS = 20
    };
    unsigned waited_ms = 0;
    while (process_rss_bytes() > limit_bytes && waited_ms < timeout_ms) {
        sleep_ms(STEP_MS);
        waited_ms += STEP_MS;
    }
    return process_rss_bytes();
}
