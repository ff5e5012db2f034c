// A buffer that grows by realloc to 1 GiB is moved by the kernel, not copied: the peak stays near the
// final size, and an address space of 1.3 times that size is enough.
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "test_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t step_bytes = (size_t)16 << 20;
static const size_t final_bytes = (size_t)1 << 30;

static void grow(void)
{
    char *buffer = NULL;
    for (size_t bytes = step_bytes; bytes <= final_bytes; bytes += step_bytes) {
        char *grown = realloc(buffer, hidden(bytes));
        REQUIRE(grown != NULL);
        buffer = grown;
        memset(buffer + bytes - step_bytes, (int)(bytes / step_bytes), step_bytes);
    }
    for (size_t bytes = step_bytes; bytes <= final_bytes; bytes += step_bytes) {
        EXPECT(buffer[bytes - step_bytes] == (char)(bytes / step_bytes));
        EXPECT(buffer[bytes - 1] == (char)(bytes / step_bytes));
    }
    EXPECT_AT_MOST(process_peak_rss_bytes(), final_bytes / 10 * 11);
    // Shrunk, it gives the rest back at once.
    buffer = realloc(buffer, hidden(step_bytes));
    REQUIRE(buffer != NULL);
    EXPECT(buffer[step_bytes - 1] == 1);
    EXPECT_AT_MOST(process_rss_bytes(), final_bytes / 4);
    free(buffer);
}

static void grow_in_a_limited_space(void)
{
    struct rlimit limit = {.rlim_cur = final_bytes / 10 * 13, .rlim_max = final_bytes / 10 * 13};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    grow();
}

int main(void)
{
    (void)alarm(60);
    check_in_child("growing to 1 GiB", grow, 25);
    check_in_child("growing in 1.3 GiB of address space", grow_in_a_limited_space, 25);
    return check_result();
}
