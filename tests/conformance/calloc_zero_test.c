// calloc gives zeroes from memory that was used before, up to the usable size.  The argument chooses
// how the memory went back: "" as it likes, "denied" (madvise fails), "locked" (mlockall), "huge"
// (huge pages asked for).
// SPDX-License-Identifier: MIT
#include "process_memory.h"
#include "random_stream.h"
#include "seccomp_deny.h"
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 600,
    DIRTY_COUNT = 8,
    LARGEST_BYTES = 9 << 20,
};

static bool is_zero(const unsigned char *block, size_t bytes)
{
    return bytes == 0 || (block[0] == 0 && memcmp(block, block + 1, bytes - 1) == 0);
}

static void spoil(size_t bytes)
{
    unsigned char *blocks[DIRTY_COUNT];
    size_t count = bytes > 1 << 20 ? 2 : DIRTY_COUNT;
    for (size_t i = 0; i < count; i++) {
        blocks[i] = i % 2 == 1 ? memalign(256, hidden(bytes)) : malloc(hidden(bytes));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], 0xAB, malloc_usable_size(blocks[i]));
    }
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
}

static void calloc_is_zero(size_t count, size_t bytes)
{
    unsigned char *block = calloc(hidden(count), hidden(bytes));
    REQUIRE(block != NULL);
    size_t usable_bytes = malloc_usable_size(block);
    EXPECT(is_zero(block, count * bytes));
    EXPECT(is_zero(block, usable_bytes));
    memset(block, 0xCD, usable_bytes);
    free(block);
}

static size_t draw_size(struct random_stream *random)
{
    static const size_t limits[] = {64, 1024, 32 << 10, 300 << 10, LARGEST_BYTES};
    return random_below(random, limits[random_below(random, 5)]);
}

static void *spoil_elsewhere(void *bytes)
{
    spoil(*(size_t *)bytes);
    return NULL;
}

static void work(struct random_stream *random)
{
    size_t bytes = draw_size(random);
    if (random_below(random, 20) == 0) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, spoil_elsewhere, &bytes) == 0);
        (void)pthread_join(thread, NULL);
    } else {
        spoil(bytes);
    }
    if (random_below(random, 50) == 0) {
        (void)malloc_trim(0);
    }
    if (random_below(random, 100) == 0) {
        sleep_ms(5);
    }
    calloc_is_zero(1, bytes);
    calloc_is_zero(bytes / 24, 24);
    calloc_is_zero(3, draw_size(random) / 3);
}

static void choose_mode(const char *mode)
{
    static const int denied[] = {SYS_madvise};
    if (strcmp(mode, "denied") == 0 && !seccomp_deny(denied, 1, EINVAL)) {
        check_skip("no seccomp filters here");
    }
    if (strcmp(mode, "locked") == 0) {
        struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
        (void)setrlimit(RLIMIT_MEMLOCK, &limit);
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
            check_skip("mlockall is not permitted");
        }
    }
    if (strcmp(mode, "huge") == 0) {
        unsigned char *blocks = malloc(64 << 20);
        REQUIRE(blocks != NULL);
        (void)madvise((void *)(((uintptr_t)blocks + (2 << 20)) & ~(uintptr_t)((2 << 20) - 1)),
                      60 << 20, MADV_HUGEPAGE);
        memset(blocks, 0xAB, 64 << 20);
        free(blocks);
    }
}

int main(int argc, char **argv)
{
    struct random_stream random = {.state = 20240131};
    (void)alarm(100);
    choose_mode(argc > 1 ? argv[1] : "");
    for (size_t bytes = 0; bytes < 1500; bytes++) {
        spoil(bytes);
        calloc_is_zero(1, bytes);
    }
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        work(&random);
    }
    return check_result();
}
