// The file that a trace is recorded into.
// Needs: trace_encode, libzstd.
// SPDX-License-Identifier: MIT
//
// RECORD_TRACE=PID:PATH in the environment asks for a trace, of the process whose parent is PID: so
// the children of the program, which have it too, write nothing.  The file is opened for each chunk:
// a program may close all of its descriptors, and another file may then have that number.
// All memory is mapped at the start; nothing here calls malloc.
#ifndef HAK_BENCH_RECORD_FILE_H
#define HAK_BENCH_RECORD_FILE_H

#include "trace_format.h"

enum {
    RECORD_EVENTS = 2048  // at most, in a chunk
};

// Empties the file and writes its head.  False when no trace is wanted, or the file can't be written.
bool record_file_start(void);

// Not for two threads at a time.  False when the file can't be written: there is an end to it then.
bool record_file_add(const struct trace_chunk *chunk);

#endif
