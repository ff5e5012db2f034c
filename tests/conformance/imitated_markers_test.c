// A program may hold any bytes, also those that an allocator writes around and into blocks of its own: no
// report may come of it.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 4,
    SLOT_COUNT = 512,
    ROUND_COUNT = 150000,
    SIZE_MOST = 400,
    WORDS_SEEN = 64,
};

// Blocks on their way from one thread to another.
static struct {
    pthread_mutex_t lock;
    void *blocks[SLOT_COUNT];
} shelf = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *swap_with_shelf(size_t slot, void *block)
{
    (void)pthread_mutex_lock(&shelf.lock);
    void *former = shelf.blocks[slot];
    shelf.blocks[slot] = block;
    (void)pthread_mutex_unlock(&shelf.lock);
    return former;
}

// What lies just behind a live block, and what a block holds after it was freed.  The compiler is not to
// know that either is out of bounds.
__attribute__((noinline)) static void spy(uint64_t *words, const unsigned char *address,
                                          size_t bytes)
{
    volatile const unsigned char *source = address;
    unsigned char *target = (unsigned char *)words;
    for (size_t i = 0; i < bytes; i++) {
        target[i] = source[i];
    }
}

static void fill_with(unsigned char *block, size_t bytes, const uint64_t *words,
                      struct random_stream *random)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        memcpy(block + i, &words[random_below(random, WORDS_SEEN)], 8);
    }
}

// A guarded block can't be looked at behind its end, nor when it was freed.
static bool may_spy;

static void *work(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    uint64_t words[WORDS_SEEN] = {0};
    for (size_t round = 0; round < ROUND_COUNT; round++) {
        size_t bytes = 16 + random_below(&random, SIZE_MOST);
        unsigned char *block = malloc(hidden(bytes));
        REQUIRE(block != NULL);
        fill_with(block, bytes, words, &random);
        if (round % 8 == 0 && may_spy) {
            // Behind the usable bytes, still in the same 16 bytes.
            size_t usable_bytes = malloc_usable_size(block);
            spy(&words[random_below(&random, WORDS_SEEN)], block + (usable_bytes & ~(size_t)7), 8);
            unsigned char *freed = malloc(hidden(bytes));
            free(freed);
            spy(&words[random_below(&random, WORDS_SEEN - 1)], freed, 16);
        }
        free(swap_with_shelf(random_below(&random, SLOT_COUNT), block));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREAD_COUNT];
    (void)alarm(100);
    may_spy = !check_has_hakmem() || check_gate_is("HAKMEM_GUARD_RATE", "0");
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        free(shelf.blocks[i]);
    }
    return check_result();
}
