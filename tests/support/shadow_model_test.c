// The shadow model finds each kind of fault that it promises to find, and no other.
// SPDX-License-Identifier: MIT
#include "shadow_model.h"
#include "test_check.h"

#include <string.h>

enum {
    ARENA_BYTES = 8 << 20
};

static struct {
    struct shadow_model *model;
    struct shadow_fault fault;
    unsigned char *memory;  // stands for the heap
} test;

static struct shadow_block block_at(size_t offset, size_t bytes)
{
    return (struct shadow_block){.address = test.memory + offset,
                                 .bytes = bytes,
                                 .usable_bytes = bytes,
                                 .align_bytes = 16,
                                 .seed = offset * 31 + bytes};
}

static bool insert(const struct shadow_block *block)
{
    return shadow_insert(test.model, block, &test.fault);
}

static bool erase(const struct shadow_block *block)
{
    return shadow_erase(test.model, block, &test.fault);
}

static void an_untouched_block_is_found_whole(size_t bytes)
{
    struct shadow_block block = block_at(4096, bytes);
    EXPECT(insert(&block));
    EXPECT(shadow_live_count(test.model) == 1 && shadow_live_bytes(test.model) == bytes);
    EXPECT(shadow_check(&block, &test.fault));
    EXPECT(erase(&block));
    EXPECT(shadow_live_count(test.model) == 0 && shadow_live_bytes(test.model) == 0);
}

static void a_changed_byte_is_found(size_t bytes, size_t offset)
{
    struct shadow_block block = block_at(0, bytes);
    EXPECT(insert(&block));
    block.address[offset] ^= 1;
    EXPECT(!shadow_check(&block, &test.fault));
    block.address[offset] ^= 1;
    EXPECT(erase(&block));
}

static void an_overlap_is_found(size_t first, size_t second, size_t bytes)
{
    struct shadow_block one = block_at(first, bytes);
    struct shadow_block two = block_at(second, bytes);
    EXPECT(insert(&one));
    EXPECT(!insert(&two));
    shadow_model_destroy(test.model);
    test.model = shadow_model_create();
}

static void neighbours_do_not_overlap(void)
{
    struct shadow_block one = block_at(0, 48);
    struct shadow_block two = block_at(48, 16);
    struct shadow_block three = block_at(64, 1 << 20);
    EXPECT(insert(&one) && insert(&two) && insert(&three));
    EXPECT(erase(&two) && erase(&one) && erase(&three));
}

static void a_second_erase_is_found(void)
{
    struct shadow_block block = block_at(0, 64);
    EXPECT(insert(&block) && erase(&block));
    EXPECT(!erase(&block));
}

static void a_wrong_place_or_size_is_found(void)
{
    struct shadow_block crooked = block_at(8, 64);
    struct shadow_block small = block_at(0, 64);
    small.usable_bytes = 63;
    EXPECT(!insert(&crooked));
    EXPECT(!insert(&small));
}

static void a_byte_that_is_not_zero_is_found(void)
{
    struct shadow_block block = block_at(1 << 20, 5000);
    memset(block.address, 0, 5000);
    EXPECT(shadow_check_zero(&block, 0, &test.fault));
    block.address[4999] = 1;
    EXPECT(!shadow_check_zero(&block, 0, &test.fault));
    EXPECT(!shadow_check_zero(&block, 4999, &test.fault));
    EXPECT(shadow_check_zero(&block, 5000, &test.fault));
    block.address[4999] = 0;
    block.address[0] = 1;
    EXPECT(!shadow_check_zero(&block, 0, &test.fault));
    EXPECT(shadow_check_zero(&block, 1, &test.fault));
}

static void a_move_that_loses_content_is_found(size_t bytes, size_t kept_bytes)
{
    struct shadow_block block = block_at(0, bytes);
    unsigned char *moved = test.memory + ARENA_BYTES / 2;
    EXPECT(insert(&block) && erase(&block));
    memcpy(moved, block.address, kept_bytes);
    memset(moved + kept_bytes, 0xEE, 64);
    EXPECT(shadow_check_moved(&block, moved, kept_bytes, &test.fault));
    moved[0] ^= 1;
    EXPECT(!shadow_check_moved(&block, moved, kept_bytes, &test.fault));
    EXPECT(shadow_restore(test.model, &block, &test.fault));
    EXPECT(erase(&block));
}

int main(void)
{
    test.model = shadow_model_create();
    test.memory = shadow_map(ARENA_BYTES);
    an_untouched_block_is_found_whole(0);
    an_untouched_block_is_found_whole(1);
    an_untouched_block_is_found_whole(4095);
    an_untouched_block_is_found_whole(3000001);
    a_changed_byte_is_found(1, 0);
    a_changed_byte_is_found(100, 99);
    a_changed_byte_is_found(64 << 10, 12345);
    a_changed_byte_is_found(3000001, 0);
    a_changed_byte_is_found(3000001, 3000000);
    an_overlap_is_found(0, 0, 16);
    an_overlap_is_found(0, 32, 48);
    an_overlap_is_found(1 << 20, 0, (1 << 20) + 1);
    neighbours_do_not_overlap();
    a_second_erase_is_found();
    a_wrong_place_or_size_is_found();
    a_byte_that_is_not_zero_is_found();
    a_move_that_loses_content_is_found(100, 33);
    a_move_that_loses_content_is_found(1 << 20, 5000);
    return check_result();
}
