// SPDX-License-Identifier: MIT
#include "harden/link.h"
#include "region/page_map.h"
#include "unit_check.h"

#include <string.h>

static const uint64_t keys[] = {0, 1, 0x0123456789abcdefu, UINT64_MAX, 0xff00ff00ff00ff00u};
static const uintptr_t addresses[] = {0, 16, 0x10000, 0x7ffff7a00010, 0x7ffffffffff0};

enum {
    KEY_COUNT = sizeof keys / sizeof keys[0],
    ADDRESS_COUNT = sizeof addresses / sizeof addresses[0],
};

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    for (size_t k = 0; k < KEY_COUNT; k++) {
        for (size_t a = 0; a < ADDRESS_COUNT; a++) {
            uint64_t link = link_encode((struct block *)addresses[a], keys[k]);
            assert_ptr_equal(link_decode(link, keys[k]), (void *)addresses[a]);
        }
    }
}

// An overflow writes the block's low bytes first; which ones depends on its length.
static void overflow(uint64_t *link, size_t byte_count, unsigned char damage)
{
    unsigned char bytes[sizeof *link];
    memcpy(bytes, link, sizeof bytes);
    for (size_t i = 0; i < byte_count; i++) {
        bytes[i] ^= damage;
    }
    memcpy(link, bytes, sizeof bytes);
}

static void damage_to_the_first_bytes_makes_an_address_of_nobody(void **state)
{
    (void)state;
    for (size_t k = 0; k < KEY_COUNT; k++) {
        for (size_t a = 0; a < ADDRESS_COUNT; a++) {
            for (unsigned damage = 1; damage < 256; damage++) {
                for (size_t byte_count = 1; byte_count <= sizeof(uint64_t); byte_count++) {
                    uint64_t link = link_encode((struct block *)addresses[a], keys[k]);
                    overflow(&link, byte_count, (unsigned char)damage);
                    uintptr_t decoded = (uintptr_t)link_decode(link, keys[k]);
                    assert_false(page_map_covers(decoded));
                }
            }
        }
    }
}

static void without_the_key_the_link_shows_no_address(void **state)
{
    (void)state;
    uint64_t key = 0x9e3779b97f4a7c15u;
    uint64_t link = link_encode((struct block *)0x7ffff7a00010, key);
    assert_int_not_equal(link, 0x7ffff7a00010);
    assert_int_not_equal(link_encode(NULL, key), 0);
    assert_ptr_not_equal(link_decode(link, key + 1), (void *)0x7ffff7a00010);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(damage_to_the_first_bytes_makes_an_address_of_nobody),
        cmocka_unit_test(without_the_key_the_link_shows_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
