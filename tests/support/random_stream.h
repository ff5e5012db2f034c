// A small random stream (splitmix64) that gives the same numbers for the same seed everywhere.
// SPDX-License-Identifier: MIT
#ifndef TESTS_RANDOM_STREAM_H
#define TESTS_RANDOM_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct random_stream {
    uint64_t state;
};

static inline uint64_t random_next(struct random_stream *stream)
{
    uint64_t mixed = (stream->state += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

// A number from 0 to limit - 1.  The bias is below one in 2^32 for the small limits of a test.
static inline size_t random_below(struct random_stream *stream, size_t limit)
{
    return (size_t)(((random_next(stream) >> 32) * (uint64_t)limit) >> 32);
}

#endif
