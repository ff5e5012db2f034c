// Calls of the prefixed API chosen by the fuzzer, checked by the shadow model of the stress test.
// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "shadow_model.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SLOT_COUNT = 64,
    MOST_BYTES = 1 << 20,
    OPERATION_BYTES = 4,  // input bytes that one operation takes
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct {
    struct shadow_model *model;
    struct shadow_block slots[SLOT_COUNT];
    uint64_t seed;
} fuzz;

static void require(bool condition, const struct shadow_fault *fault)
{
    if (!condition) {
        (void)fprintf(stderr, "%s\n", fault->text);
        abort();
    }
}

// From an input word to a size: every size class has its share, and the large blocks theirs.
static size_t size_of(uint16_t word)
{
    size_t size = (size_t)(word & 0x3FF) << (word >> 10) / 5;
    return size < MOST_BYTES ? size : MOST_BYTES;
}

static void put(struct shadow_block *slot, void *address, size_t bytes, size_t align_bytes)
{
    struct shadow_fault fault;
    if (address == NULL) {
        *slot = (struct shadow_block){.address = NULL};
        return;
    }
    *slot = (struct shadow_block){.address = address,
                                  .bytes = bytes,
                                  .usable_bytes = hak_usable_size(address),
                                  .align_bytes = align_bytes,
                                  .seed = ++fuzz.seed};
    require(shadow_insert(fuzz.model, slot, &fault), &fault);
}

static void drop(struct shadow_block *slot)
{
    struct shadow_fault fault;
    if (slot->address != NULL) {
        require(shadow_erase(fuzz.model, slot, &fault), &fault);
        hak_free(slot->address);
        slot->address = NULL;
    }
}

static void make(struct shadow_block *slot, unsigned kind, size_t bytes)
{
    struct shadow_fault fault;
    size_t align_bytes = (size_t)16 << (kind & 15);
    drop(slot);
    switch (kind >> 4 & 3) {
    case 0:
        put(slot, hak_aligned_alloc(align_bytes, bytes), bytes, align_bytes);
        break;
    case 1: {
        struct shadow_block zeroed = {
            .address = hak_calloc(1, bytes), .bytes = bytes, .align_bytes = 16};
        zeroed.usable_bytes = hak_usable_size(zeroed.address);
        require(zeroed.address == NULL || shadow_check_zero(&zeroed, 0, &fault), &fault);
        put(slot, zeroed.address, bytes, 16);
        break;
    }
    default:
        put(slot, hak_malloc(bytes), bytes, 16);
    }
}

static void resize(struct shadow_block *slot, size_t bytes)
{
    struct shadow_fault fault;
    struct shadow_block old = *slot;
    if (old.address == NULL || bytes == 0) {
        drop(slot);
        return;
    }
    require(shadow_erase(fuzz.model, &old, &fault), &fault);
    void *moved = hak_realloc(old.address, bytes);
    if (moved == NULL) {
        require(shadow_restore(fuzz.model, &old, &fault), &fault);
        return;
    }
    size_t kept_bytes = old.usable_bytes < bytes ? old.usable_bytes : bytes;
    require(shadow_check_moved(&old, moved, kept_bytes, &fault), &fault);
    put(slot, moved, bytes, 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct shadow_fault fault;
    if (fuzz.model == NULL) {
        fuzz.model = shadow_model_create();
    }
    for (size_t at = 0; at + OPERATION_BYTES <= bytes; at += OPERATION_BYTES) {
        struct shadow_block *slot = &fuzz.slots[data[at] % SLOT_COUNT];
        size_t size = size_of((uint16_t)(data[at + 2] | data[at + 3] << 8));
        switch (data[at] / SLOT_COUNT) {
        case 0:
            resize(slot, size);
            break;
        case 1:
            drop(slot);
            break;
        default:
            make(slot, data[at + 1], size);
        }
        if (data[at + 1] == UINT8_MAX) {
            (void)hak_trim(0);
        }
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        if (fuzz.slots[i].address != NULL) {
            require(shadow_check(&fuzz.slots[i], &fault), &fault);
        }
        drop(&fuzz.slots[i]);
    }
    return 0;
}
