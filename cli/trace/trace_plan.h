// A trace as a plan for bench_replay; see bench/trace/replay_plan.h.
// Layer: cli.  Needs: trace_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TRACE_PLAN_H
#define HAK_CLI_TRACE_PLAN_H

#include "trace_file.h"

// Writes the plan into a file that is open and empty.  Returns false, having said why.
bool trace_plan_write(const struct trace *trace, int file);

#endif
