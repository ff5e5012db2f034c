// Running out of address space is survivable at every point: NULL with ENOMEM, nothing printed, and
// after freeing everything there is as much as before.
// SPDX-License-Identifier: MIT
#include "block_chain.h"
#include "process_memory.h"
#include "random_stream.h"
#include "test_check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ROOM_BYTES = 256 << 20,
    BIG_BYTES = 100000,
    SMALL_BYTES = 48,
    CYCLE_COUNT = 3,
    SWEEP_COUNT = 150,
    SWEEP_STEP_BYTES = 60 << 10,
    LEAST_BYTES = 8 << 20,  // with so much room, something must be had
};

static size_t sweep_index;

static void limit_room(size_t room_bytes)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = process_vsz_bytes() + room_bytes;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void everything_else_fails_softly(void)
{
    void *block = NULL;
    errno = 0;
    EXPECT(calloc(1, hidden(ROOM_BYTES)) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(aligned_alloc(4096, hidden(ROOM_BYTES)) == NULL && errno == ENOMEM);
    EXPECT(posix_memalign(&block, 64, hidden(ROOM_BYTES)) == ENOMEM);
}

static void memory_ends_and_comes_back(void)
{
    size_t first_count = 0;
    struct block_chain *chain = NULL;
    limit_room(ROOM_BYTES);
    for (int i = 0; i < CYCLE_COUNT; i++) {
        size_t big_count = chain_take_until_null(&chain, BIG_BYTES);
        (void)chain_take_until_null(&chain, SMALL_BYTES);
        everything_else_fails_softly();
        chain_give_all(&chain);
        if (i == 0) {
            first_count = big_count;
            EXPECT(first_count * BIG_BYTES >= ROOM_BYTES / 4 * 3);
        }
        EXPECT(big_count >= first_count / 10 * 9);
    }
}

static void small_blocks_end_and_come_back(void)
{
    size_t first_count = 0;
    struct block_chain *chain = NULL;
    limit_room(ROOM_BYTES / 4);
    for (int i = 0; i < CYCLE_COUNT; i++) {
        size_t count = chain_take_until_null(&chain, SMALL_BYTES);
        chain_give_all(&chain);
        first_count = i == 0 ? count : first_count;
        EXPECT(count >= first_count / 10 * 9);
    }
    EXPECT(first_count * SMALL_BYTES >= ROOM_BYTES / 4 / 2);
}

static size_t take_mixed_until_out(struct block_chain **chain, struct random_stream *random)
{
    size_t count = 0;
    for (size_t failed_count = 0; failed_count < 20;) {
        size_t bytes = sizeof(struct block_chain) + random_below(random, 60) *
                                                        random_below(random, 60) *
                                                        random_below(random, 100);
        errno = 0;
        struct block_chain *block = malloc(bytes);
        if (block == NULL) {
            EXPECT(errno == ENOMEM);
            failed_count++;
            continue;
        }
        chain_push(chain, block);
        count++;
    }
    return count;
}

// Whatever the limit cuts off: what could be had once can be had again when all is free.
static void mixed_blocks_end_and_come_back(void)
{
    struct block_chain *chain = NULL;
    size_t first_count = 0;
    for (int i = 0; i < CYCLE_COUNT; i++) {
        struct random_stream random = {.state = sweep_index};
        size_t count = take_mixed_until_out(&chain, &random);
        chain_give_all(&chain);
        first_count = i == 0 ? count : first_count;
        // The sizes share the little room otherwise each time, so this is not exact.
        (void)check_at_most(first_count / 4, count, "cycle", i, "a quarter of the first count");
    }
    EXPECT(first_count > 0 || sweep_index * SWEEP_STEP_BYTES < LEAST_BYTES);
}

static void one_point_of_the_sweep(void)
{
    limit_room(sweep_index * SWEEP_STEP_BYTES);
    mixed_blocks_end_and_come_back();
}

// Standard error of the children goes to a file that must stay empty.
static void nothing_is_printed(void (*body)(void), const char *name, unsigned seconds)
{
    int file = memfd_create("standard error", MFD_CLOEXEC);
    int saved_fd = dup(STDERR_FILENO);
    REQUIRE(file >= 0 && saved_fd >= 0);
    (void)dup2(file, STDERR_FILENO);
    check_in_child(name, body, seconds);
    (void)dup2(saved_fd, STDERR_FILENO);
    char text[2000];
    ssize_t length = pread(file, text, sizeof(text), 0);
    if (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, (size_t)length);
        (void)written;
    }
    (void)check_that(length == 0, name, 0, "nothing on standard error");
    (void)close(file);
    (void)close(saved_fd);
}

int main(void)
{
    (void)alarm(100);
    nothing_is_printed(memory_ends_and_comes_back, "big blocks, then small ones", 30);
    nothing_is_printed(small_blocks_end_and_come_back, "small blocks", 30);
    for (sweep_index = 0; sweep_index < SWEEP_COUNT; sweep_index++) {
        nothing_is_printed(one_point_of_the_sweep, "a point of the sweep", 10);
    }
    return check_result();
}
