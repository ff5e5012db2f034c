// Recorded traces in memory: read from a file, put in order, and written small.
// Layer: cli.  Needs: trace_decode, trace_encode, ab_output, talk, libzstd.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TRACE_FILE_H
#define HAK_CLI_TRACE_FILE_H

#include "trace_format.h"

// Where a realloc stands twice in the order: when it gives its block up, and when it has another.
struct trace_turn {
    uint32_t event;
    bool is_birth;  // else a death: a free, or the first half of a realloc
};

enum {
    TRACE_NO_EVENT = -1
};

// Invariant: turns ascend by moment, and no two are at the same.  An event's `parent` is the one that its
// dead block was born by, `child` the one that its born block dies by.
struct trace {
    struct trace_event *events;
    size_t event_count;
    struct trace_turn *turns;
    size_t turn_count;
    int32_t *parents;  // by event, or TRACE_NO_EVENT
    int32_t *children;
    bool is_ended;  // the program said that it left
    enum trace_ending ending;
    // What there is to tell of it.
    size_t birth_count;
    size_t free_count;
    size_t unknown_count;  // frees of blocks that it doesn't know
    size_t thread_count;
    size_t handover_count;  // blocks that died in another thread than the one they were born in
};

// Reads a file and puts it in order.  Returns false, having said what is wrong with it.
bool trace_file_read(const char *path, struct trace *trace);
void trace_file_drop(struct trace *trace);

// True when there is such a file and it is a trace, or empty.
bool trace_file_is_trace(const char *path);

// Writes a trace with short numbers for its blocks, which takes far less room than addresses.  Returns
// false, having said why.
bool trace_file_write(const struct trace *trace, const char *path);

#endif
