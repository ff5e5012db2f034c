// SPDX-License-Identifier: MIT
#include "trace_encode.h"

#include <string.h>

static void put_word(uint8_t *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
}

void trace_encode_head(uint8_t bytes[TRACE_HEAD_BYTES])
{
    memset(bytes, 0, TRACE_HEAD_BYTES);
    put_word(bytes, TRACE_FRAME_MAGIC);
    put_word(bytes + 4, TRACE_HEAD_BYTES - TRACE_MAGIC_AT);
    memcpy(bytes + TRACE_MAGIC_AT, TRACE_MAGIC, strlen(TRACE_MAGIC));
    bytes[TRACE_VERSION_AT] = TRACE_VERSION;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    while (number >= 0x80) {
        *at++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *at++ = (uint8_t)number;
    return at;
}

static uint8_t *put_distance(uint8_t *at, uint64_t from, uint64_t to)
{
    uint64_t distance = to - from;
    uint64_t sign = distance >> 63;
    return put_number(at, (distance << 1) ^ (0 - sign));
}

static uint8_t *put_moments(uint8_t *at, const struct trace_chunk *chunk)
{
    uint64_t before = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        uint64_t moment = chunk->events[i].moment;
        at = put_number(at, i == 0 ? moment : moment - before - 1);
        before = moment;
    }
    for (size_t i = 0; i < chunk->count; i++) {
        const struct trace_event *event = &chunk->events[i];
        if (event->entry == TRACE_REALLOC) {
            at = put_number(at, event->moment - event->given_up);
        }
    }
    return at;
}

static uint8_t *put_sizes(uint8_t *at, const struct trace_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        if (chunk->events[i].entry != TRACE_FREE) {
            at = put_number(at, chunk->events[i].bytes);
        }
    }
    for (size_t i = 0; i < chunk->count; i++) {
        if (trace_entry_is_aligned(chunk->events[i].entry)) {
            *at++ = chunk->events[i].align_shift;
        }
    }
    return at;
}

static uint8_t *put_blocks(uint8_t *at, const struct trace_chunk *chunk)
{
    uint64_t before = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        const struct trace_event *event = &chunk->events[i];
        if (event->entry == TRACE_REALLOC) {
            at = put_distance(at, before, event->old_block);
            before = event->old_block;
        }
        at = put_distance(at, before, event->block);
        before = event->block;
    }
    return at;
}

size_t trace_encode(const struct trace_chunk *chunk, uint8_t *bytes)
{
    uint8_t *at = bytes;
    *at++ = (uint8_t)chunk->kind;
    if (chunk->kind == TRACE_CHUNK_END) {
        *at++ = (uint8_t)chunk->ending;
        return (size_t)(at - bytes);
    }
    at = put_number(at, chunk->thread);
    at = put_number(at, chunk->count);
    for (size_t i = 0; i < chunk->count; i++) {
        *at++ = chunk->events[i].entry;
    }
    at = put_moments(at, chunk);
    at = put_sizes(at, chunk);
    at = put_blocks(at, chunk);
    return (size_t)(at - bytes);
}
