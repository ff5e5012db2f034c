// Span: a run of units, and the record that every unit has.
// Layer: region.  Needs: base.
// SPDX-License-Identifier: MIT
#ifndef HAK_REGION_SPAN_H
#define HAK_REGION_SPAN_H

#include "region/page_map.h"

enum span_state {
    SPAN_NONE,  // no arena's unit
    SPAN_FREE,  // in the page heap
    SPAN_USED,  // a slab
};

// The head of every unit record.  A span is known by the record of its first unit.
//
// Invariant of a free span: the records of its first and last unit both say SPAN_FREE and its
// unit_count, so that a neighbour finds both ends; what lies between says nothing.
// Invariant of a used span: its first and last unit's records say SPAN_USED; of a slab's, every unit's, and
// how far the first unit is.
// The page heap's lock guards a free span; a used span belongs to whoever took it.
struct span {
    struct span *next;  // in a list of the page heap, or of the slab's owner
    struct span *prev;
    uintptr_t base;  // of the first unit; only the first record knows it
    uint16_t unit_count;
    uint16_t head_distance;  // units from the first one
    uint8_t state;
    uint8_t is_dirty;  // pages may be resident and hold old content
    uint8_t backend;   // who cuts the used span into blocks, or did; only the first record of a
                       // slab knows it, every record of a segment (ultra.h)
    uint64_t
        *bitmap_store;  // 512 bytes that stay with the unit once a slab of it needed them, until it
                        // is unmapped
};

static inline struct span *span_of_unit(uintptr_t address)
{
    return (struct span *)page_map_record(address);
}

// The first unit's record of the used span that `address` lies in.
static inline struct span *span_of(uintptr_t address)
{
    struct span *span = span_of_unit(address);
    return (struct span *)((char *)span - (size_t)span->head_distance * UNIT_RECORD_BYTES);
}

static inline uintptr_t span_end(const struct span *span)
{
    return span->base + (uintptr_t)span->unit_count * UNIT_BYTES;
}

// A list without a head record: *list is the first span or NULL, and the first one's prev is NULL.
static inline void span_list_push(struct span **list, struct span *span)
{
    span->prev = NULL;
    span->next = *list;
    if (*list != NULL) {
        (*list)->prev = span;
    }
    *list = span;
}

static inline void span_list_remove(struct span **list, struct span *span)
{
    if (span->prev != NULL) {
        span->prev->next = span->next;
    } else {
        *list = span->next;
    }
    if (span->next != NULL) {
        span->next->prev = span->prev;
    }
}

#endif
