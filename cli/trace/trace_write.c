// A trace as a small file.
// SPDX-License-Identifier: MIT
//
// Numbers of blocks are given out anew, the last one that died first: a program that frees and
// allocates in turns then mostly names the same few, one after the other.
#include "ab_output.h"
#include "talk.h"
#include "trace_encode.h"
#include "trace_file.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

enum {
    COMPRESSION_LEVEL = 19,
};

struct writing {
    FILE *out;
    ZSTD_CCtx *context;
    uint8_t *chunk;
    uint8_t *frame;
    size_t frame_bytes;
    struct trace_event *events;  // of the chunk to be written
    bool is_good;
};

// By event: the new number of what it bore.
static uint32_t *number_blocks(const struct trace *trace)
{
    uint32_t *numbers = calloc(trace->event_count, sizeof numbers[0]);
    uint32_t *dead = calloc(trace->event_count, sizeof dead[0]);
    size_t dead_count = 0;
    uint32_t number_count = 0;
    for (size_t i = 0; numbers != NULL && dead != NULL && i < trace->turn_count; i++) {
        uint32_t event = trace->turns[i].event;
        if (trace->turns[i].is_birth) {
            numbers[event] = dead_count > 0 ? dead[--dead_count] : ++number_count;
        } else if (trace->parents[event] != TRACE_NO_EVENT) {
            dead[dead_count++] = numbers[trace->parents[event]];
        }
    }
    if (dead == NULL) {
        free(numbers);
        numbers = NULL;
    }
    free(dead);
    return numbers;
}

static void write_chunk(struct writing *writing, const struct trace_chunk *chunk)
{
    size_t chunk_bytes = trace_encode(chunk, writing->chunk);
    size_t frame_bytes = ZSTD_compress2(writing->context, writing->frame, writing->frame_bytes,
                                        writing->chunk, chunk_bytes);
    writing->is_good = writing->is_good && !ZSTD_isError(frame_bytes) &&
                       fwrite(writing->frame, 1, frame_bytes, writing->out) == frame_bytes;
}

// False for a free of a block that isn't known: it has no number.
static bool renumber(const struct trace *trace, const uint32_t *numbers, size_t index,
                     struct trace_event *event)
{
    int32_t parent = trace->parents[index];
    uint32_t old_block = parent != TRACE_NO_EVENT ? numbers[parent] : 0;
    *event = trace->events[index];
    if (event->entry == TRACE_FREE) {
        event->block = old_block;
        return old_block != 0;
    }
    event->block = numbers[index];
    event->old_block = old_block;
    return true;
}

// The events of a thread lie in its order, if not beside each other.
static void write_thread(struct writing *writing, const struct trace *trace,
                         const uint32_t *numbers, uint32_t thread)
{
    struct trace_chunk chunk = {
        .kind = TRACE_CHUNK_EVENTS, .thread = thread, .events = writing->events};
    for (size_t i = 0; i < trace->event_count; i++) {
        if (trace->events[i].thread == thread &&
            renumber(trace, numbers, i, &chunk.events[chunk.count])) {
            chunk.count++;
        }
        if (chunk.count == TRACE_CHUNK_EVENTS_MOST) {
            write_chunk(writing, &chunk);
            chunk.count = 0;
        }
    }
    if (chunk.count > 0) {
        write_chunk(writing, &chunk);
    }
}

static void write_trace(struct writing *writing, const struct trace *trace, const uint32_t *numbers)
{
    uint8_t head[TRACE_HEAD_BYTES];
    const struct trace_chunk end = {.kind = TRACE_CHUNK_END, .ending = trace->ending};
    bool is_seen[TRACE_THREADS_MOST] = {false};
    trace_encode_head(head);
    writing->is_good = fwrite(head, 1, sizeof head, writing->out) == sizeof head;
    for (size_t i = 0; i < trace->event_count; i++) {
        is_seen[trace->events[i].thread] = true;
    }
    for (uint32_t thread = 0; thread < TRACE_THREADS_MOST; thread++) {
        if (is_seen[thread]) {
            write_thread(writing, trace, numbers, thread);
        }
    }
    if (trace->is_ended) {
        write_chunk(writing, &end);
    }
}

static bool make_room(struct writing *writing)
{
    writing->context = ZSTD_createCCtx();
    writing->frame_bytes = ZSTD_compressBound(TRACE_CHUNK_BYTES_MOST);
    writing->chunk = malloc(TRACE_CHUNK_BYTES_MOST);
    writing->frame = malloc(writing->frame_bytes);
    writing->events = calloc(TRACE_CHUNK_EVENTS_MOST, sizeof writing->events[0]);
    return writing->context != NULL && writing->chunk != NULL && writing->frame != NULL &&
           writing->events != NULL &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(writing->context, ZSTD_c_compressionLevel,
                                                COMPRESSION_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(writing->context, ZSTD_c_checksumFlag, 1));
}

static void drop_room(struct writing *writing)
{
    (void)ZSTD_freeCCtx(writing->context);
    free(writing->chunk);
    free(writing->frame);
    free(writing->events);
}

bool trace_file_write(const struct trace *trace, const char *path)
{
    struct ab_output output;
    struct writing writing = {.out = NULL};
    uint32_t *numbers = number_blocks(trace);
    bool is_written = false;
    if (numbers == NULL || !make_room(&writing)) {
        talk_say("%s is left as it was recorded: there is no memory to make it smaller.", path);
    } else if (ab_output_open(&output, path)) {
        writing.out = output.file;
        write_trace(&writing, trace, numbers);
        if (writing.is_good) {
            is_written = ab_output_commit(&output);
        } else {
            talk_say("%s cannot be written.", path);
            ab_output_abandon(&output);
        }
    }
    drop_room(&writing);
    free(numbers);
    return is_written;
}
