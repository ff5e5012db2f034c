// SPDX-License-Identifier: MIT
#include "region/free_spans.h"

#include "base/bits.h"

// The bin that holds spans of this length; from bin + 1 on every span is longer.
static size_t bin_of(size_t unit_count)
{
    if (unit_count <= EXACT_BIN_COUNT) {
        return unit_count - 1;
    }
    unsigned shift = log2_floor(unit_count);
    size_t bin = EXACT_BIN_COUNT + (shift - 5) * 4 + ((unit_count >> (shift - 2)) & 3);
    return min_size(bin, SPAN_BIN_COUNT - 1);
}

static struct span *last_unit_of(struct span *span)
{
    return (struct span *)((char *)span + (span->unit_count - 1) * (size_t)UNIT_RECORD_BYTES);
}

static void bins_remove(struct free_spans *spans, struct span *span)
{
    struct span_bins *bins = &spans->bins[span->is_dirty];
    size_t bin = bin_of(span->unit_count);
    span_list_remove(&bins->list[bin], span);
    if (bins->list[bin] == NULL) {
        bins->occupied[bin / 64] &= ~(1ull << (bin % 64));
    }
}

static void bins_insert(struct free_spans *spans, struct span *span)
{
    struct span_bins *bins = &spans->bins[span->is_dirty];
    size_t bin = bin_of(span->unit_count);
    span_list_push(&bins->list[bin], span);
    bins->occupied[bin / 64] |= 1ull << (bin % 64);
}

static void set_free(struct span *span, size_t unit_count, bool is_dirty)
{
    span->unit_count = (uint16_t)unit_count;
    span->head_distance = 0;
    span->state = SPAN_FREE;
    span->is_dirty = is_dirty;
    struct span *last = last_unit_of(span);
    last->unit_count = (uint16_t)unit_count;
    last->head_distance = (uint16_t)(unit_count - 1);
    last->state = SPAN_FREE;
    last->is_dirty = is_dirty;
}

bool free_spans_match(uintptr_t unit, uintptr_t other)
{
    bool is_huge = page_map_is_huge(unit);
    return is_huge == page_map_is_huge(other) &&
           (!is_huge || unit / WINDOW_BYTES == other / WINDOW_BYTES);
}

static struct span *mergeable_before(const struct span *span, bool is_dirty)
{
    uintptr_t before = span->base - UNIT_BYTES;
    if (page_map_unit_index(span->base) == 0 || !free_spans_match(span->base, before)) {
        return NULL;
    }
    struct span *last = span_of_unit(before);
    if (last->state != SPAN_FREE || last->is_dirty != is_dirty) {
        return NULL;
    }
    return (struct span *)((char *)last - (size_t)last->head_distance * UNIT_RECORD_BYTES);
}

static struct span *mergeable_after(const struct span *span, bool is_dirty)
{
    uintptr_t end = span_end(span);
    if (page_map_unit_index(end) == 0 || !free_spans_match(span->base, end)) {
        return NULL;
    }
    struct span *next = span_of_unit(end);
    return (next->state == SPAN_FREE && next->is_dirty == is_dirty) ? next : NULL;
}

void free_spans_insert(struct free_spans *spans, struct span *span, bool is_dirty)
{
    size_t unit_count = span->unit_count;
    struct span *after = mergeable_after(span, is_dirty);
    if (after != NULL) {
        bins_remove(spans, after);
        unit_count += after->unit_count;
        after->state = SPAN_NONE;
    }
    struct span *before = mergeable_before(span, is_dirty);
    if (before != NULL) {
        bins_remove(spans, before);
        last_unit_of(before)->state = SPAN_NONE;
        unit_count += before->unit_count;
        span->state = SPAN_NONE;
        span = before;
    }
    set_free(span, unit_count, is_dirty);
    bins_insert(spans, span);
}

// The shortest bin of `bins` from `bin` on that has a span, or SPAN_BIN_COUNT.
static size_t next_occupied(const struct span_bins *bins, size_t bin)
{
    for (size_t word = bin / 64; word < 2; word++) {
        uint64_t bits = bins->occupied[word];
        if (word == bin / 64) {
            bits &= ~0ull << (bin % 64);
        }
        if (bits != 0) {
            return word * 64 + (size_t)__builtin_ctzll(bits);
        }
    }
    return SPAN_BIN_COUNT;
}

struct span *free_spans_find(const struct free_spans *spans, size_t unit_count, bool is_dirty)
{
    const struct span_bins *bins = &spans->bins[is_dirty];
    for (size_t bin = next_occupied(bins, bin_of(unit_count)); bin < SPAN_BIN_COUNT;
         bin = next_occupied(bins, bin + 1)) {
        for (struct span *span = bins->list[bin]; span != NULL; span = span->next) {
            if (span->unit_count >= unit_count) {
                return span;
            }
        }
    }
    return NULL;
}

static bool has_chunk(const struct span *span)
{
    return align_up(span->base, CHUNK_BYTES) + CHUNK_BYTES <= span_end(span);
}

struct span *free_spans_find_chunk(const struct free_spans *spans, bool is_dirty, bool is_huge)
{
    const struct span_bins *bins = &spans->bins[is_dirty];
    for (size_t bin = next_occupied(bins, bin_of(CHUNK_UNIT_COUNT)); bin < SPAN_BIN_COUNT;
         bin = next_occupied(bins, bin + 1)) {
        for (struct span *span = bins->list[bin]; span != NULL; span = span->next) {
            if (has_chunk(span) && page_map_is_huge(span->base) == is_huge) {
                return span;
            }
        }
    }
    return NULL;
}

static bool is_alone(const struct span *span)
{
    uintptr_t end = span_end(span);
    return (page_map_unit_index(span->base) == 0 ||
            span_of_unit(span->base - UNIT_BYTES)->state == SPAN_NONE) &&
           (page_map_unit_index(end) == 0 || span_of_unit(end)->state == SPAN_NONE);
}

struct span *free_spans_find_alone(const struct free_spans *spans, bool is_dirty)
{
    const struct span_bins *bins = &spans->bins[is_dirty];
    for (size_t bin = next_occupied(bins, 0); bin < SPAN_BIN_COUNT;
         bin = next_occupied(bins, bin + 1)) {
        for (struct span *span = bins->list[bin]; span != NULL; span = span->next) {
            if (is_alone(span)) {
                return span;
            }
        }
    }
    return NULL;
}

struct span *free_spans_longest(const struct free_spans *spans, bool is_dirty)
{
    const struct span_bins *bins = &spans->bins[is_dirty];
    for (size_t word = 2; word-- > 0;) {
        if (bins->occupied[word] != 0) {
            return bins->list[word * 64 + log2_floor(bins->occupied[word])];
        }
    }
    return NULL;
}

struct span *span_split(struct span *span, size_t unit_count)
{
    struct span *second = span_of_unit(span->base + unit_count * UNIT_BYTES);
    second->base = span->base + unit_count * UNIT_BYTES;
    second->unit_count = (uint16_t)(span->unit_count - unit_count);
    second->state = SPAN_USED;
    second->is_dirty = span->is_dirty;
    span->unit_count = (uint16_t)unit_count;
    last_unit_of(span)->state = SPAN_USED;
    return second;
}

void span_use(struct span *span)
{
    for (size_t i = 0; i < span->unit_count; i++) {
        struct span *unit = span_of_unit(span->base + i * UNIT_BYTES);
        unit->state = SPAN_USED;
        unit->head_distance = (uint16_t)i;
    }
}

void free_spans_carve(struct free_spans *spans, struct span *span, size_t unit_count)
{
    bins_remove(spans, span);
    bool is_dirty = span->is_dirty;
    size_t rest_count = span->unit_count - unit_count;
    if (rest_count != 0) {
        last_unit_of(span)->state = SPAN_NONE;
        struct span *rest = span_of_unit(span->base + unit_count * UNIT_BYTES);
        rest->base = span->base + unit_count * UNIT_BYTES;
        set_free(rest, rest_count, is_dirty);
        bins_insert(spans, rest);
    }
    span->unit_count = (uint16_t)unit_count;
    span_use(span);
}

struct span *free_spans_skip(struct free_spans *spans, struct span *span, size_t lead_count)
{
    if (lead_count == 0) {
        return span;
    }
    bool is_dirty = span->is_dirty;
    bins_remove(spans, span);
    struct span *rest = span_split(span, lead_count);
    set_free(span, lead_count, is_dirty);
    set_free(rest, rest->unit_count, is_dirty);
    bins_insert(spans, span);
    bins_insert(spans, rest);
    return rest;
}
