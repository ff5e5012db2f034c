// SPDX-License-Identifier: MIT
#include "route/size_class.h"

// The rows of both tables: X(bytes) for each class from 1 on.
#define TINY_ROW(base, X) X(base + 16) X(base + 32) X(base + 48) X(base + 64)
#define TINY_ROWS(base, X)                                                                         \
    TINY_ROW(base, X) TINY_ROW(base + 64, X) TINY_ROW(base + 128, X) TINY_ROW(base + 192, X)
#define DOUBLING(quarter, X) X(5 * (quarter)) X(6 * (quarter)) X(7 * (quarter)) X(8 * (quarter))
#define ALL_CLASSES(X)                                                                             \
    TINY_ROWS(0, X)                                                                                \
    TINY_ROWS(256, X)                                                                              \
    TINY_ROWS(512, X)                                                                              \
    TINY_ROWS(768, X)                                                                              \
    DOUBLING(256, X)                                                                               \
    DOUBLING(512, X)                                                                               \
    DOUBLING(1024, X)                                                                              \
    DOUBLING(2048, X) DOUBLING(4096, X) DOUBLING(8192, X) DOUBLING(16384, X) DOUBLING(32768, X)

#define BYTES_ENTRY(bytes)      (bytes),
#define RECIPROCAL_ENTRY(bytes) ((1ull << RECIPROCAL_SHIFT) + (bytes)-1) / (bytes),

const uint32_t class_bytes_table[CLASS_COUNT] = {0, ALL_CLASSES(BYTES_ENTRY)};
const uint64_t class_reciprocal_table[CLASS_COUNT] = {0, ALL_CLASSES(RECIPROCAL_ENTRY)};

class_id size_class_of_aligned(size_t size, size_t align_bytes)
{
    if (size > CLASSED_BYTES_MOST || align_bytes > (64 << 10)) {
        return 0;
    }
    for (unsigned cls = size_class_of(max_size(size, align_bytes)); cls < CLASS_COUNT; cls++) {
        if ((class_bytes_table[cls] & (align_bytes - 1)) == 0) {
            return (class_id)cls;
        }
    }
    return 0;
}
