// What threads have done and isn't in the file yet: a buffer each.
// Needs: record_file.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_RECORD_BUFFER_H
#define HAK_BENCH_RECORD_BUFFER_H

#include "trace_format.h"

// To be called at the start of what is recorded.  True when it is: a trace is wanted, this thread
// isn't inside another such call, and this is no forked child.  `leave` must then end it.
bool record_buffer_enter(void);
void record_buffer_leave(void);

// The next moment of the process.
uint64_t record_buffer_moment(void);

// Adds an event of this thread; its moments and its thread are filled in here, but for `given_up`.
// Between enter and leave.  Keeps errno.
void record_buffer_add(struct trace_event event);

// Writes all that is there and records nothing more.
void record_buffer_finish(void);

#endif
