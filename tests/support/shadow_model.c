// Shadow model of a heap; see shadow_model.h.
// SPDX-License-Identifier: MIT
//
// The claim map has two levels: a root indexed by address >> 30, and leaves of one bit per 8 bytes,
// mapped on first use.  A leaf is 16 MiB of address space of which only the touched pages count.
#include "shadow_model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    GRANULE_BYTES = 8,
    LEAF_SHIFT = 30,
    ROOT_COUNT = 1 << (47 - LEAF_SHIFT),
    WORD_BITS = 64,
    WORD_SPAN_BYTES = WORD_BITS * GRANULE_BYTES,
    LEAF_WORD_COUNT = (1 << LEAF_SHIFT) / WORD_SPAN_BYTES,
    DENSE_BYTES = 64 << 10,  // up to here every byte is filled
    SPARSE_PAGE_BYTES = 4096,
    SPARSE_RUN_BYTES = 64,
};

typedef _Atomic uint64_t claim_word;

struct claim_leaf {
    claim_word words[LEAF_WORD_COUNT];
};

// leaves is written once per entry, by compare and exchange, and read by everybody (acquire).
struct shadow_model {
    _Atomic size_t live_count;
    _Atomic size_t live_bytes;
    struct claim_leaf *_Atomic leaves[ROOT_COUNT];
};

// A part of a block that carries the pattern: offsets, end excluded.
struct run {
    size_t begin;
    size_t end;
};

void *shadow_map(size_t bytes)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        static const char text[] = "shadow model: mmap failed\n";
        ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
        (void)written;
        _exit(1);
    }
    return address;
}

void shadow_unmap(void *address, size_t bytes)
{
    (void)munmap(address, bytes);
}

struct shadow_model *shadow_model_create(void)
{
    return shadow_map(sizeof(struct shadow_model));
}

void shadow_model_destroy(struct shadow_model *model)
{
    for (size_t i = 0; i < ROOT_COUNT; i++) {
        struct claim_leaf *leaf = atomic_load_explicit(&model->leaves[i], memory_order_relaxed);
        if (leaf != NULL) {
            shadow_unmap(leaf, sizeof(*leaf));
        }
    }
    shadow_unmap(model, sizeof(*model));
}

size_t shadow_live_count(const struct shadow_model *model)
{
    return atomic_load_explicit(&model->live_count, memory_order_relaxed);
}

size_t shadow_live_bytes(const struct shadow_model *model)
{
    return atomic_load_explicit(&model->live_bytes, memory_order_relaxed);
}

// ---- The claim map ------------------------------------------------------------------------------

static struct claim_leaf *leaf_of(struct shadow_model *model, uintptr_t address)
{
    struct claim_leaf *_Atomic *slot = &model->leaves[(address >> LEAF_SHIFT) & (ROOT_COUNT - 1)];
    struct claim_leaf *leaf = atomic_load_explicit(slot, memory_order_acquire);
    if (leaf == NULL) {
        struct claim_leaf *fresh = shadow_map(sizeof(*fresh));
        // Pairs with the acquire load above.
        if (atomic_compare_exchange_strong_explicit(slot, &leaf, fresh, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            return fresh;
        }
        shadow_unmap(fresh, sizeof(*fresh));
    }
    return leaf;
}

static claim_word *word_of(struct shadow_model *model, uintptr_t address)
{
    size_t offset = address & ((1u << LEAF_SHIFT) - 1);
    return &leaf_of(model, address)->words[offset / WORD_SPAN_BYTES];
}

// The bits of the word at `address` that stand for [address, end).
static uint64_t mask_of(uintptr_t address, uintptr_t end)
{
    size_t first = (address / GRANULE_BYTES) % WORD_BITS;
    size_t count = (end - address + GRANULE_BYTES - 1) / GRANULE_BYTES;
    uint64_t ones = count >= WORD_BITS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return ones << first;
}

// Sets (or clears) the bits of a block.  Returns the first address whose bit was already so, or 0.
static uintptr_t change_claim(struct shadow_model *model, const struct shadow_block *block,
                              bool claimed)
{
    uintptr_t address = (uintptr_t)block->address;
    uintptr_t end = address + block->usable_bytes;
    uintptr_t wrong = 0;
    while (address < end) {
        claim_word *word = word_of(model, address);
        uint64_t mask = mask_of(address, end);
        uint64_t before =
            claimed ? atomic_fetch_or_explicit(word, mask, memory_order_relaxed) & mask
                    : ~atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed) & mask;
        uintptr_t word_address = address & ~(uintptr_t)(WORD_SPAN_BYTES - 1);
        if (before != 0 && wrong == 0) {
            wrong = word_address + (uintptr_t)__builtin_ctzll(before) * GRANULE_BYTES;
        }
        address = word_address + WORD_SPAN_BYTES;
    }
    return wrong;
}

static bool claim(struct shadow_model *model, const struct shadow_block *block,
                  struct shadow_fault *fault)
{
    uintptr_t taken = change_claim(model, block, true);
    if (taken != 0) {
        (void)snprintf(fault->text, sizeof(fault->text),
                       "the new block %p (%zu bytes asked, %zu usable) overlaps a live block at %p",
                       (void *)block->address, block->bytes, block->usable_bytes, (void *)taken);
        return false;
    }
    (void)atomic_fetch_add_explicit(&model->live_count, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&model->live_bytes, block->usable_bytes, memory_order_relaxed);
    return true;
}

// ---- The pattern --------------------------------------------------------------------------------

static uint64_t pattern_word(uint64_t seed, size_t offset)
{
    uint64_t mixed = (seed + offset / sizeof(uint64_t)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 29);
}

static struct run sparse_run_of_page(const struct shadow_block *block, size_t page_offset)
{
    size_t last_page = (block->usable_bytes - 1) & ~(size_t)(SPARSE_PAGE_BYTES - 1);
    if (page_offset == 0 || page_offset == last_page) {
        return (struct run){.begin = page_offset, .end = page_offset + SPARSE_PAGE_BYTES};
    }
    size_t place = pattern_word(~block->seed, page_offset) >> 58;
    size_t begin = page_offset + place * SPARSE_RUN_BYTES;
    return (struct run){.begin = begin, .end = begin + SPARSE_RUN_BYTES};
}

// Steps to the next run of a block, cut at `limit`; {0, 0} starts.  False after the last.
static bool next_run(const struct shadow_block *block, size_t limit, struct run *run)
{
    if (block->usable_bytes <= DENSE_BYTES) {
        bool is_first = run->end == 0;
        *run = (struct run){.begin = 0, .end = limit};
        return is_first && limit > 0;
    }
    size_t step = SPARSE_PAGE_BYTES;
    size_t page_offset = (run->end + step - 1) & ~(step - 1);
    *run = sparse_run_of_page(block, page_offset);
    if (page_offset >= block->usable_bytes || run->begin >= limit) {
        return false;
    }
    run->end = run->end < limit ? run->end : limit;
    return true;
}

static void fill_run(const struct shadow_block *block, struct run run)
{
    size_t offset = run.begin;
    for (; offset + sizeof(uint64_t) <= run.end; offset += sizeof(uint64_t)) {
        uint64_t word = pattern_word(block->seed, offset);
        memcpy(block->address + offset, &word, sizeof(word));
    }
    uint64_t tail = pattern_word(block->seed, offset);
    memcpy(block->address + offset, &tail, run.end - offset);
}

// The offset of the first byte from `offset` to `end` that is not as filled, or SIZE_MAX.
static size_t find_damaged_byte(const struct shadow_block *block, const unsigned char *content,
                                size_t offset, size_t end)
{
    for (; offset < end; offset++) {
        uint64_t word = pattern_word(block->seed, offset);
        const unsigned char *expected = (const unsigned char *)&word;
        if (content[offset] != expected[offset % sizeof(word)]) {
            return offset;
        }
    }
    return SIZE_MAX;
}

static size_t find_damage(const struct shadow_block *block, const unsigned char *content,
                          struct run run)
{
    size_t offset = run.begin;
    for (; offset + sizeof(uint64_t) <= run.end; offset += sizeof(uint64_t)) {
        uint64_t word = pattern_word(block->seed, offset);
        uint64_t found;
        memcpy(&found, content + offset, sizeof(found));
        if (found != word) {
            break;
        }
    }
    return find_damaged_byte(block, content, offset, run.end);
}

static bool check_content(const struct shadow_block *block, const unsigned char *content,
                          size_t limit, struct shadow_fault *fault)
{
    struct run run = {0, 0};
    while (next_run(block, limit, &run)) {
        size_t damage = find_damage(block, content, run);
        if (damage != SIZE_MAX) {
            (void)snprintf(
                fault->text, sizeof(fault->text),
                "the content of block %p (%zu bytes asked, %zu usable) changed at offset "
                "%zu: it is %02x there",
                (const void *)content, block->bytes, block->usable_bytes, damage, content[damage]);
            return false;
        }
    }
    return true;
}

// ---- The life of a block ------------------------------------------------------------------------

bool shadow_insert(struct shadow_model *model, const struct shadow_block *block,
                   struct shadow_fault *fault)
{
    if (((uintptr_t)block->address & (block->align_bytes - 1)) != 0) {
        (void)snprintf(fault->text, sizeof(fault->text),
                       "block %p of %zu bytes is not aligned to %zu", (void *)block->address,
                       block->bytes, block->align_bytes);
        return false;
    }
    if (block->usable_bytes < block->bytes) {
        (void)snprintf(fault->text, sizeof(fault->text),
                       "block %p has %zu usable bytes, but %zu were asked for",
                       (void *)block->address, block->usable_bytes, block->bytes);
        return false;
    }
    if (!claim(model, block, fault)) {
        return false;
    }
    struct run run = {0, 0};
    while (next_run(block, block->usable_bytes, &run)) {
        fill_run(block, run);
    }
    return true;
}

bool shadow_check_zero(const struct shadow_block *block, size_t offset, struct shadow_fault *fault)
{
    const unsigned char *content = block->address;
    if (offset >= block->usable_bytes) {
        return true;
    }
    // Each byte is compared with its left neighbour, the first one with zero.
    if (content[offset] == 0 &&
        memcmp(content + offset, content + offset + 1, block->usable_bytes - offset - 1) == 0) {
        return true;
    }
    while (content[offset] == 0) {
        offset++;
    }
    (void)snprintf(
        fault->text, sizeof(fault->text),
        "block %p (%zu bytes asked, %zu usable) should be zero at offset %zu: it is %02x",
        (const void *)content, block->bytes, block->usable_bytes, offset, content[offset]);
    return false;
}

bool shadow_check(const struct shadow_block *block, struct shadow_fault *fault)
{
    return check_content(block, block->address, block->usable_bytes, fault);
}

bool shadow_erase(struct shadow_model *model, const struct shadow_block *block,
                  struct shadow_fault *fault)
{
    if (!shadow_check(block, fault)) {
        return false;
    }
    uintptr_t missing = change_claim(model, block, false);
    if (missing != 0) {
        (void)snprintf(fault->text, sizeof(fault->text), "block %p of %zu bytes was not live at %p",
                       (void *)block->address, block->bytes, (void *)missing);
        return false;
    }
    (void)atomic_fetch_sub_explicit(&model->live_count, 1, memory_order_relaxed);
    (void)atomic_fetch_sub_explicit(&model->live_bytes, block->usable_bytes, memory_order_relaxed);
    return true;
}

bool shadow_check_moved(const struct shadow_block *old, const void *address, size_t kept_bytes,
                        struct shadow_fault *fault)
{
    return check_content(old, address, kept_bytes, fault);
}

bool shadow_restore(struct shadow_model *model, const struct shadow_block *old,
                    struct shadow_fault *fault)
{
    return claim(model, old, fault) && shadow_check(old, fault);
}
