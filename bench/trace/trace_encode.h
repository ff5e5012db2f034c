// Chunks of a trace as bytes; see trace_format.h.
// Needs: trace_format.  Calls nothing, so that the recorder may use it inside malloc.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_TRACE_ENCODE_H
#define HAK_BENCH_TRACE_ENCODE_H

#include "trace_format.h"

// Writes the head of a file.
void trace_encode_head(uint8_t bytes[TRACE_HEAD_BYTES]);

// Writes a chunk of up to TRACE_CHUNK_EVENTS_MOST events and returns its length, at most
// count * TRACE_EVENT_BYTES_MOST + 16.
size_t trace_encode(const struct trace_chunk *chunk, uint8_t *bytes);

#endif
