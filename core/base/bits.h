// Arithmetic on sizes and powers of two.
// Layer: base.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_BASE_BITS_H
#define HAK_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

// `step` is a power of two; the caller has made sure that the sum doesn't overflow.
static inline size_t align_up(size_t value, size_t step)
{
    return (value + step - 1) & ~(step - 1);
}

static inline size_t align_down(size_t value, size_t step)
{
    return value & ~(step - 1);
}

// `value` is not 0.
static inline unsigned log2_floor(size_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

// The largest power of two that divides `value`, which is not 0.
static inline size_t largest_power_dividing(size_t value)
{
    return value & (~value + 1);
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
