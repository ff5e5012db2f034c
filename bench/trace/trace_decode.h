// Bytes as chunks of a trace; see trace_format.h.
// Needs: trace_format.
// SPDX-License-Identifier: MIT
//
// The bytes may come from anywhere: nothing is read beyond them and nothing is believed that the
// format doesn't allow.  What a whole trace must keep to beyond its chunks is the reader's to check.
#ifndef HAK_BENCH_TRACE_DECODE_H
#define HAK_BENCH_TRACE_DECODE_H

#include "trace_format.h"

// Reads the head of a file.  Returns NULL or what is wrong with it: "it is no trace".
const char *trace_decode_head(const uint8_t *bytes, size_t byte_count);

// Reads a chunk; chunk->events has room for TRACE_CHUNK_EVENTS_MOST.  Returns NULL or what is wrong
// with it: "its moments do not ascend".
const char *trace_decode(const uint8_t *bytes, size_t byte_count, struct trace_chunk *chunk);

#endif
