// What a thread's own backends have to say of blocks that are freed wrongly.
// SPDX-License-Identifier: MIT
#ifndef HAK_UNIT_BACKEND_MISUSE_H
#define HAK_UNIT_BACKEND_MISUSE_H

#include "backend/backend.h"
#include "unit_check.h"

static struct slab_owner *misused_owner;

static inline void misuse_give(void *block)
{
    backend_flush(misused_owner, &block, 1);
}

static inline void misuse_give_twice(void *block)
{
    void *twice[2] = {block, block};
    backend_flush(misused_owner, twice, 2);
}

static inline void misuse_explain(void *pointer)
{
    backend_die_unknown(pointer);
}

// With an owner that has no blocks, and has none afterwards; returns one that was the last of its span.
static inline void *assert_misuse_is_named(enum backend_id backend, struct slab_owner *owner)
{
    enum {
        CLASS_OF_512 = 32
    };
    void *blocks[3];
    misused_owner = owner;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(backend_refill(backend, owner, CLASS_OF_512, &blocks[i], 1), 1);
    }
    backend_flush(owner, &blocks[1], 1);
    assert_true(backend_block_is_free(blocks[1]));
    assert_false(backend_block_is_free(blocks[0]));
    assert_dies_of("double free", blocks[1], 512, misuse_give, blocks[1]);
    assert_dies_of("double free", blocks[0], 512, misuse_give_twice, blocks[0]);
    assert_dies_of("free", (char *)blocks[0] + 16, 0, misuse_give, (char *)blocks[0] + 16);
    backend_flush(owner, &blocks[0], 1);
    backend_flush(owner, &blocks[2], 1);
    assert_dies_of("double free", blocks[2], 512, misuse_explain, blocks[2]);
    assert_dies_of("free", (char *)blocks[2] + 8, 0, misuse_explain, (char *)blocks[2] + 8);
    return blocks[2];
}

#endif
