// A lot of blocks of all sizes, worked on at random by every entry point, in a program that takes refusals.
// SPDX-License-Identifier: MIT
//
// Each block carries its mark at both ends.  A refusal is NULL with ENOMEM and leaves what there is whole;
// anything else is a failed check.  Linked with one of stress_hak.c and stress_libc.c.
#ifndef TESTS_PIECE_LOT_H
#define TESTS_PIECE_LOT_H

#include "random_stream.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PIECE_COUNT = 60,
};

struct piece {
    unsigned char *address;  // NULL: none
    size_t bytes;
    unsigned char mark;
};

// One thread works on it at a time.
struct lot {
    struct piece pieces[PIECE_COUNT];
    struct random_stream random;
};

// Whether memory may be refused; if it may not, each refusal is a failed check.
void lot_may_fail(bool may_fail);
bool lot_can_fail(void);

// Refusals so far, by any thread.
size_t lot_refusal_count(void);

// Whether a block came from a call before which errno was 0.
bool lot_block_has_come(const void *block);

size_t lot_draw_size(struct random_stream *random);

// `step_count` times takes, resizes or frees a block.
void lot_work(struct lot *lot, size_t step_count);

// Checks and frees every block.
void lot_give(struct lot *lot);

#endif
