// Free spans: what the page heap has to hand out, by length, neighbours merged.
// Layer: region.  Needs: base.
// SPDX-License-Identifier: MIT
//
// A plain data structure: the page heap's lock guards it.
//
// Two free spans that lie side by side are never of the same kind and the same backing: they would be
// one.  Kinds: clean (purged or never touched) and dirty.  Backings: the huge chunks of each window, and
// all other memory; so a window can lose its huge pages without a span of two backings.  Spans of
// different zones are never merged: their records are not neighbours.
#ifndef HAK_REGION_FREE_SPANS_H
#define HAK_REGION_FREE_SPANS_H

#include "region/span.h"

enum {
    EXACT_BIN_COUNT = 32,  // spans of 1 to 32 units have a bin for each length
    SPAN_BIN_COUNT = EXACT_BIN_COUNT + 4 * 10,
};

// Spans of one kind by length, and a bit for each bin that has any.
struct span_bins {
    struct span *list[SPAN_BIN_COUNT];
    uint64_t occupied[2];
};

struct free_spans {
    struct span_bins bins[2];  // [is_dirty]
};

// Makes `span` free and merges it with its neighbours.
void free_spans_insert(struct free_spans *spans, struct span *span, bool is_dirty);

// The shortest span of a kind that has `unit_count` units, or nearly the shortest, or NULL.
struct span *free_spans_find(const struct free_spans *spans, size_t unit_count, bool is_dirty);

// The longest span of a kind, or nearly the longest, or NULL.
struct span *free_spans_longest(const struct free_spans *spans, bool is_dirty);

// A span of a kind that has a whole chunk in it, one with that backing; or NULL.
struct span *free_spans_find_chunk(const struct free_spans *spans, bool is_dirty, bool is_huge);

// A span of a kind with no span of ours on either side, or NULL.  Looks at all spans of the kind.
struct span *free_spans_find_alone(const struct free_spans *spans, bool is_dirty);

// Makes the first `unit_count` units of a free span a used span; the rest stays free.
void free_spans_carve(struct free_spans *spans, struct span *span, size_t unit_count);

// Leaves the first `lead_count` units of a free span free; the rest, returned, is a free span of its own
// for the moment: it is to be carved next.
struct span *free_spans_skip(struct free_spans *spans, struct span *span, size_t lead_count);

// Have two units of one zone the same backing, so that one span may hold both?
bool free_spans_match(uintptr_t unit, uintptr_t other);
// Makes the records of all units of a span say that they are its own and used.
void span_use(struct span *span);

// Cuts a used span in two behind its first `unit_count` units; returns the second part, used too.
struct span *span_split(struct span *span, size_t unit_count);

#endif
