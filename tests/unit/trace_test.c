// Chunks of a trace: what is written is read again, and no bytes whatever do harm.
// SPDX-License-Identifier: MIT
#include "unit_check.h"

#include "trace_decode.h"
#include "trace_encode.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 7
};

static struct trace_event room[TRACE_CHUNK_EVENTS_MOST];

// One of each entry, with numbers at the edges.
static const struct trace_event sample[EVENTS] = {
    {.moment = 1, .block = 0x7FFFFFFFF010, .bytes = 0, .thread = 9, .entry = TRACE_MALLOC},
    {.moment = 2, .block = 1, .bytes = (UINT64_C(1) << 48) - 1, .thread = 9, .entry = TRACE_CALLOC},
    {.moment = 5,
     .given_up = 3,
     .block = UINT64_MAX,
     .old_block = 1,
     .bytes = 5,
     .thread = 9,
     .entry = TRACE_REALLOC},
    {.moment = 70000, .block = UINT64_MAX, .thread = 9, .entry = TRACE_FREE},
    {.moment = 70001,
     .block = 128,
     .bytes = 127,
     .thread = 9,
     .entry = TRACE_MEMALIGN,
     .align_shift = TRACE_ALIGN_SHIFT_MOST},
    {.moment = 70002, .block = 256, .bytes = 128, .thread = 9, .entry = TRACE_ALIGNED_ALLOC},
    {.moment = TRACE_MOMENTS_MOST - 1,
     .block = 512,
     .bytes = 129,
     .thread = 9,
     .entry = TRACE_POSIX_MEMALIGN,
     .align_shift = 4},
};

static size_t encode_sample(uint8_t *bytes)
{
    struct trace_event events[EVENTS];
    memcpy(events, sample, sizeof sample);
    const struct trace_chunk chunk = {
        .kind = TRACE_CHUNK_EVENTS, .thread = 9, .count = EVENTS, .events = events};
    return trace_encode(&chunk, bytes);
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    uint8_t bytes[EVENTS * TRACE_EVENT_BYTES_MOST + 16];
    struct trace_chunk chunk = {.events = room};
    size_t byte_count = encode_sample(bytes);
    assert_true(byte_count <= sizeof bytes);
    assert_null(trace_decode(bytes, byte_count, &chunk));
    assert_int_equal(chunk.kind, TRACE_CHUNK_EVENTS);
    assert_int_equal(chunk.thread, 9);
    assert_int_equal(chunk.count, EVENTS);
    assert_memory_equal(room, sample, sizeof sample);
}

static void an_end_is_read_again(void **state)
{
    (void)state;
    uint8_t bytes[16];
    const struct trace_chunk end = {.kind = TRACE_CHUNK_END, .ending = TRACE_FULL};
    struct trace_chunk chunk = {.events = room};
    size_t byte_count = trace_encode(&end, bytes);
    assert_null(trace_decode(bytes, byte_count, &chunk));
    assert_int_equal(chunk.kind, TRACE_CHUNK_END);
    assert_int_equal(chunk.ending, TRACE_FULL);
    bytes[1] = TRACE_FULL + 1;
    assert_non_null(trace_decode(bytes, byte_count, &chunk));
}

// In a block of exactly that length, so that a sanitizer sees the byte behind it.
static const char *decode_copy(const uint8_t *bytes, size_t byte_count)
{
    struct trace_chunk chunk = {.events = room};
    uint8_t *copy = malloc(byte_count + (byte_count == 0));
    assert_non_null(copy);
    memcpy(copy, bytes, byte_count);
    const char *fault = trace_decode(copy, byte_count, &chunk);
    free(copy);
    return fault;
}

static void a_chunk_that_is_cut_or_longer_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[EVENTS * TRACE_EVENT_BYTES_MOST + 17];
    size_t byte_count = encode_sample(bytes);
    for (size_t cut = 0; cut < byte_count; cut++) {
        assert_non_null(decode_copy(bytes, cut));
    }
    assert_null(decode_copy(bytes, byte_count));
    bytes[byte_count] = 0;
    assert_non_null(decode_copy(bytes, byte_count + 1));
}

static bool is_allowed(const struct trace_chunk *chunk)
{
    uint64_t before = 0;
    bool is_good = chunk->thread < TRACE_THREADS_MOST && chunk->count > 0;
    for (size_t i = 0; i < chunk->count; i++) {
        const struct trace_event *event = &chunk->events[i];
        uint64_t first = event->entry == TRACE_REALLOC ? event->given_up : event->moment;
        is_good = is_good && event->entry < TRACE_ENTRY_COUNT && first > before &&
                  event->moment >= first && event->moment < TRACE_MOMENTS_MOST &&
                  event->block != 0 && event->bytes <= TRACE_BYTES_MOST &&
                  event->align_shift <= TRACE_ALIGN_SHIFT_MOST;
        before = event->moment;
    }
    return is_good;
}

static void what_is_believed_of_damaged_bytes_is_allowed(void **state)
{
    (void)state;
    uint8_t bytes[EVENTS * TRACE_EVENT_BYTES_MOST + 16];
    size_t byte_count = encode_sample(bytes);
    struct trace_chunk chunk = {.events = room};
    size_t refused_count = 0;
    for (size_t at = 1; at < byte_count; at++) {
        uint8_t kept = bytes[at];
        for (unsigned value = 0; value < 256; value++) {
            bytes[at] = (uint8_t)value;
            if (trace_decode(bytes, byte_count, &chunk) != NULL) {
                refused_count++;
            } else {
                assert_true(is_allowed(&chunk));
            }
        }
        bytes[at] = kept;
    }
    assert_true(refused_count > byte_count);
}

static void a_head_is_checked_byte_by_byte(void **state)
{
    (void)state;
    uint8_t head[TRACE_HEAD_BYTES];
    trace_encode_head(head);
    assert_null(trace_decode_head(head, sizeof head));
    assert_non_null(trace_decode_head(head, sizeof head - 1));
    for (size_t at = 0; at < sizeof head; at++) {
        head[at] ^= 1;
        assert_non_null(trace_decode_head(head, sizeof head));
        head[at] ^= 1;
    }
    head[TRACE_VERSION_AT] = TRACE_VERSION + 1;
    assert_string_equal(trace_decode_head(head, sizeof head), "it is a trace of another version");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(an_end_is_read_again),
        cmocka_unit_test(a_chunk_that_is_cut_or_longer_is_refused),
        cmocka_unit_test(what_is_believed_of_damaged_bytes_is_allowed),
        cmocka_unit_test(a_head_is_checked_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
