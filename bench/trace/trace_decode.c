// SPDX-License-Identifier: MIT
#include "trace_decode.h"

#include "trace_encode.h"

#include <string.h>

// What is left to read.  A number that isn't whole or doesn't fit sets `is_bad`, for good.
struct source {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad;
};

static uint8_t take_byte(struct source *source)
{
    if (source->at == source->end) {
        source->is_bad = true;
        return 0;
    }
    return *source->at++;
}

static uint64_t take_number(struct source *source)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take_byte(source);
        number |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            source->is_bad |= shift == 63 && byte > 1;
            return number;
        }
    }
    source->is_bad = true;
    return 0;
}

static uint64_t take_distance(struct source *source, uint64_t from)
{
    uint64_t number = take_number(source);
    return from + ((number >> 1) ^ (0 - (number & 1)));
}

const char *trace_decode_head(const uint8_t *bytes, size_t byte_count)
{
    uint8_t wanted[TRACE_HEAD_BYTES];
    trace_encode_head(wanted);
    if (byte_count < TRACE_HEAD_BYTES || memcmp(bytes, wanted, TRACE_VERSION_AT) != 0) {
        return "it is no trace";
    }
    if (bytes[TRACE_VERSION_AT] != TRACE_VERSION) {
        return "it is a trace of another version";
    }
    if (memcmp(bytes, wanted, TRACE_HEAD_BYTES) != 0) {
        return "its head is damaged";
    }
    return NULL;
}

static const char *take_entries(struct source *source, struct trace_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        uint8_t entry = take_byte(source);
        if (entry >= TRACE_ENTRY_COUNT) {
            return "it names a function that is not known";
        }
        chunk->events[i] = (struct trace_event){.thread = chunk->thread, .entry = entry};
    }
    return NULL;
}

static const char *take_moments(struct source *source, struct trace_chunk *chunk)
{
    uint64_t before = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        uint64_t number = take_number(source);
        if (number >= TRACE_MOMENTS_MOST) {
            return "a moment is out of range";
        }
        before = i == 0 ? number : before + 1 + number;
        if (before == 0 || before >= TRACE_MOMENTS_MOST) {
            return "a moment is out of range";
        }
        chunk->events[i].moment = before;
    }
    before = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        struct trace_event *event = &chunk->events[i];
        if (event->entry == TRACE_REALLOC) {
            uint64_t number = take_number(source);
            if (number == 0 || number >= event->moment || event->moment - number <= before) {
                return "a realloc gave up its block at an impossible moment";
            }
            event->given_up = event->moment - number;
        }
        before = event->moment;
    }
    return NULL;
}

static const char *take_sizes(struct source *source, struct trace_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        struct trace_event *event = &chunk->events[i];
        event->bytes = event->entry == TRACE_FREE ? 0 : take_number(source);
        if (event->bytes > TRACE_BYTES_MOST) {
            return "a block is larger than memory can be";
        }
    }
    for (size_t i = 0; i < chunk->count; i++) {
        struct trace_event *event = &chunk->events[i];
        event->align_shift = trace_entry_is_aligned(event->entry) ? take_byte(source) : 0;
        if (event->align_shift > TRACE_ALIGN_SHIFT_MOST) {
            return "an alignment is larger than memory can be";
        }
    }
    return NULL;
}

static const char *take_blocks(struct source *source, struct trace_chunk *chunk)
{
    uint64_t before = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        struct trace_event *event = &chunk->events[i];
        if (event->entry == TRACE_REALLOC) {
            before = take_distance(source, before);
            event->old_block = before;
        }
        before = take_distance(source, before);
        event->block = before;
        if (before == 0) {
            return "a block has no number";
        }
    }
    return NULL;
}

static const char *take_end(struct source *source, struct trace_chunk *chunk)
{
    uint8_t ending = take_byte(source);
    if (ending > TRACE_FULL) {
        return "its end is of an unknown kind";
    }
    chunk->ending = (enum trace_ending)ending;
    return NULL;
}

static const char *take_events(struct source *source, struct trace_chunk *chunk)
{
    uint64_t thread = take_number(source);
    uint64_t count = take_number(source);
    if (thread >= TRACE_THREADS_MOST) {
        return "it numbers a thread that cannot be";
    }
    if (count == 0 || count > TRACE_CHUNK_EVENTS_MOST) {
        return "it counts more or fewer events than a chunk has";
    }
    chunk->thread = (uint32_t)thread;
    chunk->count = count;
    const char *fault = take_entries(source, chunk);
    fault = fault == NULL ? take_moments(source, chunk) : fault;
    fault = fault == NULL ? take_sizes(source, chunk) : fault;
    return fault == NULL ? take_blocks(source, chunk) : fault;
}

const char *trace_decode(const uint8_t *bytes, size_t byte_count, struct trace_chunk *chunk)
{
    struct source source = {bytes, bytes + byte_count, false};
    const char *fault = NULL;
    uint8_t kind = take_byte(&source);
    chunk->count = 0;
    if (kind != TRACE_CHUNK_EVENTS && kind != TRACE_CHUNK_END) {
        return "it has a chunk of an unknown kind";
    }
    chunk->kind = (enum trace_chunk_kind)kind;
    fault = kind == TRACE_CHUNK_END ? take_end(&source, chunk) : take_events(&source, chunk);
    if (fault == NULL && source.at != source.end) {
        return "a chunk is longer than what it says";
    }
    return source.is_bad ? "a chunk is shorter than what it says" : fault;
}
