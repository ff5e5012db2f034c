// SPDX-License-Identifier: MIT
#include "trace_file.h"

#include "talk.h"
#include "trace_decode.h"
#include "trace_order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

// A file that is being read.
struct reading {
    const char *path;
    const uint8_t *bytes;
    size_t byte_count;
    size_t at;
    uint8_t *chunk_bytes;        // TRACE_CHUNK_BYTES_MOST
    struct trace_event *events;  // TRACE_CHUNK_EVENTS_MOST
    size_t room_count;           // events that trace->events has room for
    uint64_t *last_moments;      // by thread
    bool *is_seen;
};

static bool refuse(const char *path, const char *fault)
{
    talk_say("%s cannot be read: %s.", path, fault);
    return false;
}

static bool refuse_place(const struct reading *reading, const char *fault)
{
    talk_say("%s is damaged at byte %zu: %s. Record it again.", reading->path, reading->at, fault);
    return false;
}

static bool map_file(struct reading *reading)
{
    struct stat status;
    int file = open(reading->path, O_RDONLY | O_CLOEXEC);
    bool is_known = file >= 0 && fstat(file, &status) == 0;
    if (is_known && !S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        is_known = false;
    }
    reading->byte_count = is_known ? (size_t)status.st_size : 0;
    void *bytes = NULL;
    if (reading->byte_count > 0) {
        bytes = mmap(NULL, reading->byte_count, PROT_READ, MAP_PRIVATE, file, 0);
        is_known = bytes != MAP_FAILED;
    }
    int error = errno;
    if (file >= 0) {
        (void)close(file);
    }
    reading->bytes = bytes;
    return is_known || refuse(reading->path, strerror(error));
}

static bool make_room(struct trace *trace, struct reading *reading, size_t count)
{
    if (trace->event_count + count <= reading->room_count) {
        return true;
    }
    size_t room_count = 2 * (trace->event_count + count);
    void *events = realloc(trace->events, room_count * sizeof trace->events[0]);
    if (events == NULL) {
        return refuse(reading->path, "memory is out");
    }
    trace->events = events;
    reading->room_count = room_count;
    return true;
}

static bool add_chunk(struct trace *trace, struct reading *reading, const struct trace_chunk *chunk)
{
    uint64_t *last_moment = &reading->last_moments[chunk->thread];
    const struct trace_event *first = &chunk->events[0];
    uint64_t first_moment = first->entry == TRACE_REALLOC ? first->given_up : first->moment;
    if (first_moment <= *last_moment) {
        return refuse_place(reading, "the moments of a thread do not ascend");
    }
    // Each has a moment of its own: that bounds them too.
    if (trace->event_count + chunk->count >= TRACE_MOMENTS_MOST) {
        return refuse_place(reading, "it has more events than moments");
    }
    if (!make_room(trace, reading, chunk->count)) {
        return false;
    }
    *last_moment = chunk->events[chunk->count - 1].moment;
    trace->thread_count += !reading->is_seen[chunk->thread];
    reading->is_seen[chunk->thread] = true;
    memcpy(trace->events + trace->event_count, chunk->events,
           chunk->count * sizeof chunk->events[0]);
    trace->event_count += chunk->count;
    return true;
}

static bool read_frame(struct trace *trace, struct reading *reading)
{
    struct trace_chunk chunk = {.events = reading->events};
    const uint8_t *frame = reading->bytes + reading->at;
    size_t left_bytes = reading->byte_count - reading->at;
    size_t frame_bytes = ZSTD_findFrameCompressedSize(frame, left_bytes);
    if (ZSTD_isError(frame_bytes)) {
        return refuse_place(reading, "what follows is cut off, or no frame of zstd");
    }
    if (trace->is_ended) {
        return refuse_place(reading, "something follows its end");
    }
    size_t got = ZSTD_decompress(reading->chunk_bytes, TRACE_CHUNK_BYTES_MOST, frame, frame_bytes);
    if (ZSTD_isError(got)) {
        return refuse_place(reading, ZSTD_getErrorName(got));
    }
    const char *fault = trace_decode(reading->chunk_bytes, got, &chunk);
    if (fault != NULL) {
        return refuse_place(reading, fault);
    }
    if (chunk.kind == TRACE_CHUNK_END) {
        trace->is_ended = true;
        trace->ending = chunk.ending;
    } else if (!add_chunk(trace, reading, &chunk)) {
        return false;
    }
    reading->at += frame_bytes;
    return true;
}

static bool read_frames(struct trace *trace, struct reading *reading)
{
    bool is_good = true;
    reading->at = TRACE_HEAD_BYTES;
    reading->chunk_bytes = malloc(TRACE_CHUNK_BYTES_MOST);
    reading->events = calloc(TRACE_CHUNK_EVENTS_MOST, sizeof reading->events[0]);
    reading->last_moments = calloc(TRACE_THREADS_MOST, sizeof reading->last_moments[0]);
    reading->is_seen = calloc(TRACE_THREADS_MOST, sizeof reading->is_seen[0]);
    if (reading->chunk_bytes == NULL || reading->events == NULL || reading->last_moments == NULL ||
        reading->is_seen == NULL) {
        is_good = refuse(reading->path, "memory is out");
    }
    while (is_good && reading->at < reading->byte_count) {
        is_good = read_frame(trace, reading);
    }
    free(reading->chunk_bytes);
    free(reading->events);
    free(reading->last_moments);
    free(reading->is_seen);
    return is_good;
}

static bool read_all(struct trace *trace, struct reading *reading)
{
    const char *fault = trace_decode_head(reading->bytes, reading->byte_count);
    if (fault != NULL) {
        return refuse(reading->path, fault);
    }
    if (!read_frames(trace, reading)) {
        return false;
    }
    if (trace->event_count == 0) {
        return refuse(reading->path, "it is a trace without a single allocation");
    }
    fault = trace_order_make(trace);
    return fault == NULL || refuse(reading->path, fault);
}

bool trace_file_read(const char *path, struct trace *trace)
{
    struct reading reading = {.path = path};
    *trace = (struct trace){.events = NULL};
    if (!map_file(&reading)) {
        return false;
    }
    bool is_good = read_all(trace, &reading);
    if (reading.bytes != NULL) {
        (void)munmap((void *)reading.bytes, reading.byte_count);
    }
    if (!is_good) {
        trace_file_drop(trace);
    }
    return is_good;
}

void trace_file_drop(struct trace *trace)
{
    free(trace->events);
    free(trace->turns);
    free(trace->parents);
    free(trace->children);
    *trace = (struct trace){.events = NULL};
}

bool trace_file_is_trace(const char *path)
{
    uint8_t head[TRACE_HEAD_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t got = read(file, head, sizeof head);
    (void)close(file);
    return got == 0 || (got > 0 && trace_decode_head(head, (size_t)got) == NULL);
}
