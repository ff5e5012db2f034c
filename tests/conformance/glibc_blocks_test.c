// A program that asks the loader for libc's own malloc and hands its blocks to free, realloc and
// malloc_usable_size: they work, the content is kept, and the memory goes back to libc's heap.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BYTES_MOST = 3 << 20,
    THREAD_COUNT = 4,
    BLOCK_COUNT = 500,
    BLOCK_BYTES = 3000,  // more than glibc keeps at hand, so that its figures show the free
    LARGE_BYTES = 4 << 20,
};

static struct {
    void *(*malloc)(size_t bytes);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*memalign)(size_t alignment, size_t bytes);
    struct mallinfo2 (*mallinfo2)(void);
} libc;

static void find_libc(void)
{
    void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(handle != NULL);
    *(void **)&libc.malloc = dlsym(handle, "malloc");
    *(void **)&libc.calloc = dlsym(handle, "__libc_calloc");
    *(void **)&libc.memalign = dlsym(handle, "__libc_memalign");
    *(void **)&libc.mallinfo2 = dlsym(handle, "mallinfo2");
    REQUIRE(libc.malloc && libc.calloc && libc.memalign && libc.mallinfo2);
    EXPECT(!check_has_hakmem() || libc.malloc != malloc);
}

static bool is_filled_with(const unsigned char *block, unsigned char value, size_t bytes)
{
    return bytes == 0 || (block[0] == value && memcmp(block, block + 1, bytes - 1) == 0);
}

static void a_block_can_be_resized_and_freed(unsigned char *block, size_t bytes)
{
    static const size_t percents[] = {100, 90, 150, 400, 10};
    REQUIRE(block != NULL);
    EXPECT(malloc_usable_size(block) >= bytes);
    memset(block, 5, malloc_usable_size(block));
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        size_t wanted_bytes = bytes * percents[i] / 100 + 1;
        size_t kept_bytes = wanted_bytes < bytes ? wanted_bytes : bytes;
        block = realloc(hidden_ptr(block), hidden(wanted_bytes));
        REQUIRE(block != NULL && malloc_usable_size(block) >= wanted_bytes);
        EXPECT(is_filled_with(block, 5, kept_bytes));
        memset(block, 5, wanted_bytes);
        bytes = wanted_bytes;
    }
    free(hidden_ptr(block));
}

static void *use_blocks_of_libc(void *unused)
{
    for (size_t bytes = 1; bytes < BYTES_MOST; bytes = bytes * 3 + 1) {
        a_block_can_be_resized_and_freed(libc.malloc(hidden(bytes)), bytes);
        a_block_can_be_resized_and_freed(libc.calloc(1, hidden(bytes)), bytes);
        a_block_can_be_resized_and_freed(libc.memalign(64, hidden(bytes)), bytes);
        a_block_can_be_resized_and_freed(libc.memalign(16384, hidden(bytes)), bytes);
        free(hidden_ptr(libc.malloc(hidden(bytes))));
    }
    EXPECT(realloc(libc.malloc(hidden(100)), hidden(0)) == NULL);
    return unused;
}

static void threads_do_the_same(void)
{
    pthread_t threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, use_blocks_of_libc, NULL) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static size_t live_bytes_of_libc(void)
{
    struct mallinfo2 info = libc.mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void the_memory_goes_back_to_libc(void)
{
    static void *blocks[BLOCK_COUNT];
    size_t before = live_bytes_of_libc();
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        blocks[i] = libc.malloc(hidden(i % 50 == 0 ? LARGE_BYTES : BLOCK_BYTES));
    }
    EXPECT(live_bytes_of_libc() >= before + BLOCK_COUNT / 50 * LARGE_BYTES);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        free(blocks[i]);
    }
    EXPECT_AT_MOST(live_bytes_of_libc(), before);
}

int main(void)
{
    (void)alarm(60);
    find_libc();
    (void)use_blocks_of_libc(NULL);
    threads_do_the_same();
    the_memory_goes_back_to_libc();
    return check_result();
}
