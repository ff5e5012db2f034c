// See piece_lot.h.
// SPDX-License-Identifier: MIT
#include "piece_lot.h"

#include "stress_allocator.h"
#include "test_check.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MARKED_BYTES = 64,      // at each end of a block
    LONG_BYTES = 60 << 20,  // does not grow
};

// refusal_count is a sum and orders nothing.
static struct {
    bool may_fail;
    _Atomic size_t refusal_count;
} refusals;

void lot_may_fail(bool may_fail)
{
    refusals.may_fail = may_fail;
}

bool lot_can_fail(void)
{
    return refusals.may_fail;
}

size_t lot_refusal_count(void)
{
    return atomic_load_explicit(&refusals.refusal_count, memory_order_relaxed);
}

bool lot_block_has_come(const void *block)
{
    if (block == NULL) {
        EXPECT(errno == ENOMEM && refusals.may_fail);
        (void)atomic_fetch_add_explicit(&refusals.refusal_count, 1, memory_order_relaxed);
    }
    return block != NULL;
}

static void fill(const struct piece *piece)
{
    size_t length = piece->bytes < MARKED_BYTES ? piece->bytes : MARKED_BYTES;
    memset(piece->address, piece->mark, length);
    memset(piece->address + piece->bytes - length, piece->mark, length);
}

// Does the block still begin with its mark, over at most `bytes`?
static bool is_whole(const struct piece *piece, size_t bytes)
{
    size_t length = piece->bytes < MARKED_BYTES ? piece->bytes : MARKED_BYTES;
    length = length < bytes ? length : bytes;
    for (size_t i = 0; i < length; i++) {
        if (piece->address[i] != piece->mark) {
            return false;
        }
    }
    return true;
}

static bool ends_whole(const struct piece *piece)
{
    return piece->address[piece->bytes - 1] == piece->mark;
}

size_t lot_draw_size(struct random_stream *random)
{
    size_t kind = random_below(random, 100);
    if (kind < 45) {
        return 1 + random_below(random, 1100);
    }
    if (kind < 70) {
        return 1 + random_below(random, 33 << 10);
    }
    if (kind < 88) {
        return 1 + random_below(random, 300 << 10);
    }
    if (kind < 95) {
        return 1 + random_below(random, 3 << 20);
    }
    return (8 << 20) + random_below(random, 40 << 20);
}

// pvalloc's blocks are whole pages, which a sized free must name.
static void *take_aligned(struct random_stream *random, size_t *bytes)
{
    enum aligned_kind kind = (enum aligned_kind)random_below(random, ALIGNED_KIND_COUNT);
    size_t align_bytes = (size_t)16 << random_below(random, 18);
    void *block = stress_aligned(kind, &align_bytes, *bytes);
    EXPECT(is_aligned(block, align_bytes));
    if (kind == ALIGNED_PVALLOC) {
        *bytes = (*bytes + align_bytes - 1) / align_bytes * align_bytes;
    }
    if (block == NULL && kind == ALIGNED_POSIX) {
        EXPECT(errno == 0);
        errno = ENOMEM;  // what it returned
    }
    return block;
}

static void *take_zeroed(size_t bytes)
{
    unsigned char *block = stress_calloc(1, bytes);
    EXPECT(block == NULL || (block[0] == 0 && block[bytes / 2] == 0 && block[bytes - 1] == 0));
    return block;
}

static void *take_by_any_name(struct random_stream *random, size_t *bytes)
{
    switch (random_below(random, 6)) {
    case 0:
        return take_zeroed(*bytes);
    case 1:
        return take_aligned(random, bytes);
    case 2:
        return stress_realloc(NULL, *bytes);
    case 3:
        return stress_reallocarray(NULL, 1, *bytes);
    default:
        return stress_malloc(*bytes);
    }
}

static void take_piece(struct piece *piece, struct random_stream *random)
{
    size_t bytes = lot_draw_size(random);
    errno = 0;
    void *block = take_by_any_name(random, &bytes);
    if (lot_block_has_come(block)) {
        *piece = (struct piece){block, bytes, (unsigned char)random_next(random)};
        fill(piece);
    }
}

static void give_piece(struct piece *piece)
{
    if (piece->address != NULL) {
        EXPECT(is_whole(piece, piece->bytes) && ends_whole(piece));
        errno = E2BIG;
        if (piece->mark % 4 == 0) {
            stress_free_sized(piece->address, piece->bytes);
        } else {
            stress_free(piece->address);
        }
        EXPECT(errno == E2BIG);
        piece->address = NULL;
    }
}

static void resize_piece(struct piece *piece, struct random_stream *random)
{
    size_t bytes = random_below(random, 3) == 0 ? lot_draw_size(random) : piece->bytes * 3 / 2 + 1;
    errno = 0;
    void *moved = stress_rezalloc != NULL && random_below(random, 4) == 0
                      ? stress_rezalloc(piece->address, piece->bytes, bytes)
                      : stress_realloc(piece->address, bytes);
    if (!lot_block_has_come(moved)) {
        EXPECT(is_whole(piece, piece->bytes) && ends_whole(piece));
        return;
    }
    struct piece now = {moved, bytes, piece->mark};
    EXPECT(is_whole(&now, piece->bytes));
    *piece = now;
    fill(piece);
}

void lot_work(struct lot *lot, size_t step_count)
{
    for (size_t i = 0; i < step_count; i++) {
        struct piece *piece = &lot->pieces[random_below(&lot->random, PIECE_COUNT)];
        if (piece->address == NULL) {
            take_piece(piece, &lot->random);
        } else if (piece->bytes < LONG_BYTES && random_below(&lot->random, 3) == 0) {
            resize_piece(piece, &lot->random);
        } else {
            give_piece(piece);
        }
    }
}

void lot_give(struct lot *lot)
{
    for (size_t i = 0; i < PIECE_COUNT; i++) {
        give_piece(&lot->pieces[i]);
    }
}
