// Size classes: from a size to its class and back; bands of tiny classes.
// Layer: route.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Classes 1 to 64 are tiny: steps of 16 bytes up to 1 KiB, so that a tiny class is (n + 15) / 16
// and no table stands in the way of a hit.  Classes 65 to 96 go on with four steps a doubling up
// to 256 KiB.  Class 0 is unused.  Every class is a multiple of 16.
#ifndef HAK_ROUTE_SIZE_CLASS_H
#define HAK_ROUTE_SIZE_CLASS_H

#include "base/bits.h"
#include "base/check.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TINY_STEP_BYTES = 16,
    TINY_BYTES_MOST = 1024,
    TINY_CLASS_COUNT = TINY_BYTES_MOST / TINY_STEP_BYTES + 1,  // class 0 included
    CLASSED_BYTES_MOST = 256 << 10,                            // above: a large block
    CLASS_COUNT = TINY_CLASS_COUNT + 4 * 8,
    BAND_COUNT = 8,
};

typedef uint8_t class_id;

extern const uint32_t class_bytes_table[CLASS_COUNT];

// 1 <= size <= TINY_BYTES_MOST
static inline class_id size_class_of_tiny(size_t size)
{
    return (class_id)((size + TINY_STEP_BYTES - 1) / TINY_STEP_BYTES);
}

// 1 <= size <= CLASSED_BYTES_MOST
static inline class_id size_class_of(size_t size)
{
    hak_assert(size >= 1 && size <= CLASSED_BYTES_MOST);
    if (size <= TINY_BYTES_MOST) {
        return size_class_of_tiny(size);
    }
    unsigned shift = log2_floor(size - 1);
    size_t step = ((size - 1) >> (shift - 2)) & 3;
    return (class_id)(TINY_CLASS_COUNT + (shift - 10) * 4 + step);
}

static inline size_t size_class_bytes(class_id cls)
{
    return class_bytes_table[cls];
}

// The smallest class of at least `size` bytes whose size is a multiple of `align_bytes`, a power of
// two of at most 64 KiB; 0 when there is none.
class_id size_class_of_aligned(size_t size, size_t align_bytes);

// The band C0 to C7 of a tiny class.  C0 and C1 share the 16-byte class, which answers 1.
static inline unsigned size_class_band(class_id cls)
{
    return cls == 1 ? 1 : log2_floor((size_t)cls - 1) + 2;
}

// Units of a slab of this class: eight blocks or more, four above 64 KiB.
static inline size_t size_class_slab_units(class_id cls)
{
    enum {
        UNIT = 64 << 10
    };
    size_t bytes = size_class_bytes(cls);
    size_t least_count = bytes > UNIT ? 4 : 8;
    return (bytes * least_count + UNIT - 1) / UNIT;
}

// The index of a block from its distance to the first block: (distance * reciprocal) >> 40 is
// distance / size for every distance below 2^22, because reciprocal = ceil(2^40 / size) errs by
// less than size / 2^40, size <= 2^18, and 2^22 * 2^18 = 2^40.
enum {
    RECIPROCAL_SHIFT = 40
};

extern const uint64_t class_reciprocal_table[CLASS_COUNT];

static inline size_t size_class_index(class_id cls, size_t distance_bytes)
{
    return (size_t)((distance_bytes * class_reciprocal_table[cls]) >> RECIPROCAL_SHIFT);
}

// The bytes of a block of the class that begins at the distance in a row of `capacity` of them, or 0.  `cls`
// may be any number, as it is in a record of what was there once.
static inline size_t size_class_bytes_at(unsigned cls, size_t distance_bytes, size_t capacity)
{
    size_t bytes = cls < CLASS_COUNT ? class_bytes_table[cls] : 0;
    return bytes != 0 && distance_bytes % bytes == 0 && distance_bytes / bytes < capacity ? bytes
                                                                                          : 0;
}

#endif
