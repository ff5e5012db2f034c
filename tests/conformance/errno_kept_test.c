// Releasing a block leaves errno alone, and so does every success; also where the kernel refuses to
// take memory back (argument "denied": munmap and madvise fail).
// SPDX-License-Identifier: MIT
#include "seccomp_deny.h"
#include "test_check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SENTINEL = 98765,
    ROUND_COUNT = 40,
    SIZE_COUNT = 24,  // 8 bytes to 64 MiB
    BLOCK_COUNT = 4,
};

// errno as the program found it: the start-up of the allocator must not show.
static int first_errno;

__attribute__((constructor(101))) static void note_errno(void)
{
    first_errno = errno;
}

static struct {
    void (*free_sized)(void *block, size_t bytes);
    void (*free_aligned_sized)(void *block, size_t align_bytes, size_t bytes);
} c23;

static void release(void *block, size_t way, size_t bytes)
{
    if (way == 1 && c23.free_sized != NULL) {
        c23.free_sized(block, bytes);
    } else if (way == 2 && c23.free_aligned_sized != NULL) {
        c23.free_aligned_sized(block, 16, bytes);
    } else {
        free(block);
    }
}

static void a_round_keeps_errno(size_t shift)
{
    void *blocks[BLOCK_COUNT];
    size_t bytes = (size_t)8 << shift;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        errno = SENTINEL;
        blocks[i] = i == 2 ? aligned_alloc(16, hidden(bytes)) : malloc(hidden(bytes));
        REQUIRE(blocks[i] != NULL);
        EXPECT(errno == SENTINEL);
        *(char *)blocks[i] = 1;
    }
    for (size_t i = 0; i < BLOCK_COUNT - 1; i++) {
        errno = SENTINEL;
        release(blocks[i], i, bytes);
        EXPECT(errno == SENTINEL);
    }
    errno = SENTINEL;
    void *moved = realloc(blocks[BLOCK_COUNT - 1], hidden(bytes / 2));
    EXPECT(errno == SENTINEL);
    free(moved);
    EXPECT(errno == SENTINEL);
}

static void *free_for_another(void *block)
{
    errno = SENTINEL;
    free(block);
    EXPECT(errno == SENTINEL);
    return NULL;
}

static void a_free_from_another_thread_keeps_errno(size_t shift)
{
    pthread_t thread;
    void *block = malloc(hidden((size_t)8 << shift));
    REQUIRE(block != NULL);
    REQUIRE(pthread_create(&thread, NULL, free_for_another, block) == 0);
    (void)pthread_join(thread, NULL);
}

static void a_flood_of_frees_keeps_errno(void)
{
    enum {
        FLOOD_COUNT = 20000
    };
    static void *blocks[FLOOD_COUNT];
    for (size_t i = 0; i < FLOOD_COUNT; i++) {
        blocks[i] = malloc(hidden(1 + i % 5000));
        REQUIRE(blocks[i] != NULL);
    }
    errno = SENTINEL;
    for (size_t i = 0; i < FLOOD_COUNT; i++) {
        free(blocks[i]);
    }
    EXPECT(errno == SENTINEL);
}

int main(int argc, char **argv)
{
    static const int returning[] = {SYS_munmap, SYS_madvise};
    (void)alarm(60);
    EXPECT(first_errno == 0);
    *(void **)&c23.free_sized = check_symbol("free_sized");
    *(void **)&c23.free_aligned_sized = check_symbol("free_aligned_sized");
    if (argc > 1 && strcmp(argv[1], "denied") == 0 && !seccomp_deny(returning, 2, EPERM)) {
        check_skip("no seccomp filters here");
    }
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        for (size_t shift = 0; shift < SIZE_COUNT; shift++) {
            a_round_keeps_errno(shift);
        }
    }
    for (size_t shift = 0; shift < SIZE_COUNT; shift++) {
        a_free_from_another_thread_keeps_errno(shift);
    }
    a_flood_of_frees_keeps_errno();
    return check_result();
}
