// Blocks handed round a ring of threads: each is freed by another thread than the one that took it.
// SPDX-License-Identifier: MIT
#include "../support/random_stream.h"
#include "hakmem.h"
#include "unit_check.h"

#include <stdatomic.h>

enum {
    THREAD_COUNT = 4,
    SLOT_COUNT = 64,
    ROUND_COUNT = 40000,
    BYTES_MOST = 20000,
};

// A slot is a hand-over: who exchanges a block into it gets the one before to free.
static _Atomic(size_t *) slots[SLOT_COUNT];

struct player {
    struct random_stream random;
    size_t wrong_count;
};

static size_t some_bytes(struct random_stream *random)
{
    size_t bytes = random_below(random, 16) == 0 ? BYTES_MOST : 300;
    return random_below(random, bytes) + 2 * sizeof(size_t);
}

// First and last word of a block say how long it is.
static void write_ends(size_t *block, size_t bytes)
{
    block[0] = bytes;
    block[bytes / sizeof *block - 1] = bytes;
}

static bool has_ends(const size_t *block)
{
    return block[block[0] / sizeof *block - 1] == block[0];
}

static void play(void *argument)
{
    struct player *player = argument;
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        size_t bytes = some_bytes(&player->random);
        size_t *block = hak_malloc(bytes);
        if (block == NULL) {
            player->wrong_count++;
            continue;
        }
        write_ends(block, bytes);
        size_t slot = random_below(&player->random, SLOT_COUNT);
        size_t *before = atomic_exchange(&slots[slot], block);
        player->wrong_count += before != NULL && !has_ends(before);
        hak_free(before);
        if (i % 4096 == 0) {
            hak_thread_flush();
        }
    }
}

static void give_slots(void)
{
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        hak_free(atomic_exchange(&slots[i], NULL));
    }
}

static size_t live_bytes(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    assert_int_equal(hak_stats_read(&stats), 0);
    assert_int_equal(stats.transit_bytes, 0);
    return stats.live_bytes;
}

// Twice, so that the second round's threads adopt the heaps of the first's.
static void every_block_comes_back_whole_to_its_owner(void **state)
{
    (void)state;
    static struct player players[THREAD_COUNT];
    for (int round = 0; round < 2; round++) {
        hak_thread_flush();
        size_t before = live_bytes();
        for (size_t i = 0; i < THREAD_COUNT; i++) {
            players[i] = (struct player){.random = {i + 100u * (unsigned)round}};
        }
        run_in_threads(play, players, sizeof players[0], THREAD_COUNT);
        give_slots();
        hak_thread_flush();
        for (size_t i = 0; i < THREAD_COUNT; i++) {
            assert_int_equal(players[i].wrong_count, 0);
        }
        assert_int_equal(live_bytes(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_comes_back_whole_to_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
